import { sql } from 'kysely'
import type { Database, Db } from '@sandyard/db/database'
import { within } from '@sandyard/kit/async/within'
import { runLoop } from '@sandyard/kit/lifecycle/run-loop'
import type { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { VolumeStore } from '@sandyard/runtime/volume-store'
import { findLateVolumes, forgetVolume } from './late-volumes.ts'
import { forgetExpired } from './stored-upload.ts'
import { MEASURE_LOOK_EVERY_MS, measureVolumes } from './measure-volumes.ts'

export interface CollectParts {
  readonly database: Database
  readonly runtime: Pick<SandboxRuntime, 'volumes'>
  readonly log: Logger
}

export interface CollectOptions {
  /** Requests for its content that were authorized before the deletion may still start its file service. Default: a minute. */
  readonly graceSeconds?: number
}

const COLLECT_EVERY_MS = 60_000
const GRACE_SECONDS = 60
const BATCH = 100
const REMOVE_TIMEOUT_MS = 60_000

/** Starts the loops that remove the files of deleted volumes and measure the others; `shutdown` stops them. */
export function startVolumeLoops(parts: CollectParts, shutdown: Shutdown): void {
  const collecting = runLoop({ name: 'deleted volumes', everyMs: COLLECT_EVERY_MS, log: parts.log }, (signal) =>
    collectVolumes(parts, {}, signal),
  )
  shutdown.add('deleted volumes', () => collecting.stop())
  const measuring = runLoop({ name: 'volume sizes', everyMs: MEASURE_LOOK_EVERY_MS, log: parts.log }, (signal) =>
    measureVolumes(parts, {}, signal),
  )
  shutdown.add('volume sizes', () => measuring.stop())
}

/**
 * Removes the files of deleted volumes that no sandbox has, and then their rows; also volumes that the engine made after that. One that is in use or whose
 * removal fails waits for another pass. Other volumes without a row are left alone: after the restore of an older backup they are the data of users.
 */
export async function collectVolumes(
  parts: CollectParts,
  { graceSeconds = GRACE_SECONDS }: CollectOptions = {},
  signal?: AbortSignal,
): Promise<void> {
  const { volumes } = parts.runtime
  if (volumes === undefined) return
  const { db } = parts.database
  await forgetExpired(db)
  let after = ''
  for (;;) {
    const ids = await findUnused(db, { after, graceSeconds })
    for (const volumeId of ids) if (await removeVolume(parts, volumes, volumeId, signal)) await forgetVolume(db, volumeId)
    if (ids.length < BATCH) break
    after = ids.at(-1) ?? ''
  }
  for (const volumeId of await findLateVolumes(db, volumes, signal)) await removeVolume(parts, volumes, volumeId, signal)
}

/** True when it is gone. Never fails. */
async function removeVolume({ log }: CollectParts, volumes: VolumeStore, volumeId: string, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted === true) return false
  const options = { what: 'the removal of a volume', timeoutMs: REMOVE_TIMEOUT_MS, ...(signal && { signal }) }
  try {
    return await within(options, (ending) => volumes.remove(volumeId, ending))
  } catch (err) {
    log.warn({ err, volumeId }, 'a deleted volume could not be removed yet')
    return false
  }
}

/** A sandbox in any state may have it: its row is before its container, and a reservation holds the volume against its deletion. */
async function findUnused(db: Db, { after, graceSeconds }: { readonly after: string; readonly graceSeconds: number }): Promise<string[]> {
  const { rows } = await sql<{ volume_id: string }>`
    select volume_id from volume
    where deleted_at <= clock_timestamp() - make_interval(secs => ${graceSeconds}) and volume_id::text > ${after}
      and not exists (
        select from sandbox where sandbox.team_id = volume.team_id
          and volume_mounts @> jsonb_build_array(jsonb_build_object('volumeId', volume_id::text))
      )
    order by volume_id::text limit ${BATCH}
  `.execute(db)
  return rows.map((row) => row.volume_id)
}
