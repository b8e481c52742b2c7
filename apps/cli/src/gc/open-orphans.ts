import { openOwnerRecords } from '@sandyard/api/owner-records'
import { within } from '@sandyard/kit/async/within'
import { findEngineId } from '@sandyard/runtime-docker/engine/engine-id'
import { findOrphans, removeOrphan, type Orphan } from '@sandyard/runtime-docker/upkeep/orphans'
import type { CliParts } from '../cli-parts.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'

const ENGINE_TIMEOUT_MS = 15_000

/** The orphans of the installation of the database, on its engine. */
export interface Orphans {
  find(): Promise<Orphan[]>
  remove(orphan: Orphan): Promise<void>
}

/** @throws CliFailure `refused` when another engine answers than the one of the database: there everything would look like an orphan */
export async function openOrphans(parts: CliParts): Promise<Orphans> {
  const { db } = await parts.database()
  const records = await openOwnerRecords(db)
  const docker = await parts.engine()
  const { signal } = parts
  const engineId = await within({ what: 'asking the engine for its id', timeoutMs: ENGINE_TIMEOUT_MS, signal }, (ending) =>
    findEngineId(docker, ending),
  )
  if (engineId !== records.engineId) {
    throw new CliFailure(
      EXIT.refused,
      `The database belongs to another Docker engine (${records.engineId}) than the one that answers (${engineId ?? 'without an id'}): set DOCKER_HOST.`,
    )
  }
  const ofInstallation = { docker, installation: records.installation }
  return { find: () => findOrphans(ofInstallation, records), remove: (orphan) => removeOrphan(ofInstallation, orphan) }
}
