import type { Db } from '@sandyard/db/database'
import { within } from '@sandyard/kit/async/within'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { connectEngine } from '@sandyard/runtime-docker/engine/connect-engine'
import { findEngineId } from '@sandyard/runtime-docker/engine/engine-id'
import type { OrphanSource } from '@sandyard/runtime/orphan'
import { findOrphans, removeOrphan } from '@sandyard/runtime-docker/upkeep/orphans'
import { openOwnerRecords } from '../servers/owner-records.ts'

export interface OrphanParts {
  readonly db: Db
  readonly docker: Awaited<ReturnType<typeof connectEngine>>
  readonly signal: AbortSignal
}

const ENGINE_TIMEOUT_MS = 15_000

/**
 * The orphans of the installation of the database, on its engine.
 *
 * @throws AppError `permission_denied` when another engine answers than the one of the database: there everything would look like an orphan
 */
export async function openOrphans({ db, docker, signal }: OrphanParts): Promise<OrphanSource> {
  const records = await openOwnerRecords(db)
  const engineId = await within({ what: 'asking the engine for its id', timeoutMs: ENGINE_TIMEOUT_MS, signal }, (ending) =>
    findEngineId(docker, ending),
  )
  if (engineId !== records.engineId) {
    throw new AppError(
      'permission_denied',
      `The database belongs to another Docker engine (${records.engineId}) than the one that answers (${engineId ?? 'without an id'}): set DOCKER_HOST.`,
    )
  }
  const ofInstallation = { docker, installation: records.installation }
  return { find: () => findOrphans(ofInstallation, records), remove: (orphan) => removeOrphan(ofInstallation, orphan) }
}
