import { sql } from 'kysely'
import type { Database, Db } from '@sandyard/db/database'
import { within } from '@sandyard/kit/async/within'
import { runLoop } from '@sandyard/kit/lifecycle/run-loop'
import type { Shutdown } from '@sandyard/kit/lifecycle/shutdown'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
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
 * Removes the files of deleted volumes that no sandbox has, and then their rows. One that is in use or whose removal fails waits for another pass.
 * Volumes without a row are left alone: after the restore of an older backup they are the data of users.
 */
export async function collectVolumes(
  { database: { db }, runtime: { volumes }, log }: CollectParts,
  { graceSeconds = GRACE_SECONDS }: CollectOptions = {},
  signal?: AbortSignal,
): Promise<void> {
  if (volumes === undefined) return
  await forgetExpired(db)
  let after = ''
  for (;;) {
    const ids = await findUnused(db, { after, graceSeconds })
    for (const volumeId of ids) {
      if (signal?.aborted === true) return
      const options = { what: 'the removal of a volume', timeoutMs: REMOVE_TIMEOUT_MS, ...(signal && { signal }) }
      try {
        const isGone = await within(options, (ending) => volumes.remove(volumeId, ending))
        if (isGone) await db.deleteFrom('volume').where('volume_id', '=', volumeId).where('deleted_at', 'is not', null).execute()
      } catch (err) {
        log.warn({ err, volumeId }, 'a deleted volume could not be removed yet')
      }
    }
    if (ids.length < BATCH) return
    after = ids.at(-1) ?? ''
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
