import { sql } from 'kysely'
import type { Database, Tx } from '@sandyard/db/database'
import { inBatches } from '@sandyard/db/in-batches'
import { secondsAgo } from '@sandyard/db/statement-time'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { UploadFolder } from '../../uploads/upload-folder.ts'
import type { UploadKey } from '../../uploads/upload-link.ts'
import { lockUpload } from '../../uploads/upload-queries.ts'

export interface UploadUpkeepParts {
  readonly database: Database
  readonly folder: UploadFolder
  readonly log: Logger
}

const BATCHES = { size: 1000, most: 50 }

/** Removes archives, with their rows, that were not used in that time and that no queued build names. */
export async function collectUploads(parts: UploadUpkeepParts, unusedMs: number, signal?: AbortSignal): Promise<void> {
  const isUnused = sql<boolean>`last_used_at < ${secondsAgo(unusedMs / 1000)} and not exists (
    select from build_job, jsonb_array_elements(build_job.plan->'steps') as step
    where build_job.team_id = layer_upload.team_id and step->>'filesHash' = layer_upload.hash
  )`
  await inBatches({ ...BATCHES, signal }, async (size) => {
    const unused = await parts.database.db
      .selectFrom('layer_upload')
      .select(['team_id', 'hash'])
      .where(isUnused)
      .orderBy('last_used_at')
      .limit(size)
      .execute()
    let removed = 0
    for (const { team_id, hash } of unused) {
      if (signal?.aborted === true) break
      await change(parts, { teamId: team_id, hash }, async (tx, key) => {
        const gone = await tx
          .deleteFrom('layer_upload')
          .where('team_id', '=', key.teamId)
          .where('hash', '=', key.hash)
          .where(isUnused)
          .executeTakeFirst()
        if (gone.numDeletedRows > 0n) await parts.folder.remove(key)
        removed += Number(gone.numDeletedRows)
      })
    }
    // Stop at a failed removal: the next batch would begin with the same upload.
    return removed
  })
}

/** Runs one removal under the lock of the upload. Failures are logged and left to the next pass. */
export async function change(
  { database, log }: UploadUpkeepParts,
  key: UploadKey,
  work: (tx: Tx, key: UploadKey) => Promise<void>,
): Promise<void> {
  try {
    await database.transaction(async (tx) => {
      await lockUpload(tx, key)
      await work(tx, key)
    })
  } catch (err) {
    log.warn({ err, ...key }, 'an upload could not be removed yet')
  }
}
