import { sql } from 'kysely'
import { RECORDING_KEPT_MS } from '@sandyard/dashboard-contract/limits'
import type { Db } from '@sandyard/db/database'
import { inBatches } from '@sandyard/db/in-batches'
import { secondsAgo } from '@sandyard/db/statement-time'

/** A live server gives a sign every minute. */
const LOST_AFTER_S = 5 * 60
/** A recording has up to 8 MiB. */
const BATCHES = { size: 20, most: 500 }

/** Ends the recordings of killed servers, which have lost their last seconds. */
export async function endLostRecordings(db: Db): Promise<void> {
  await sql`
    update terminal_recording set ended_at = seen_at, is_truncated = true
    where ended_at is null and seen_at < ${secondsAgo(LOST_AFTER_S)}
  `.execute(db)
}

/** Deletes the recordings whose time is over, oldest first. */
export async function deleteOldRecordings(db: Db, signal: AbortSignal): Promise<void> {
  await inBatches({ ...BATCHES, signal }, async (size) => {
    const { numAffectedRows } = await sql`
      delete from terminal_recording where recording_id = any(array(
        select recording_id from terminal_recording where started_at < ${secondsAgo(RECORDING_KEPT_MS / 1000)}
        order by started_at limit ${size} for update skip locked
      ))
    `.execute(db)
    return Number(numAffectedRows ?? 0n)
  })
}
