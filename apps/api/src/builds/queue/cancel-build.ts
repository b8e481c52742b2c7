import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import { CHANNELS, notify } from '@sandyard/db/notify'
import { settleBuild } from './settle-build.ts'

/**
 * Cancels an unfinished build, with `reason` as its message (control-plane.md 11.9). A queued build ends with the transaction. A running
 * build gets an order to stop, and ends with this reason even if its work succeeds.
 */
export async function cancelBuild(tx: Tx, buildId: string, reason: string): Promise<void> {
  const job = await tx.selectFrom('build_job').select('server_id').where('build_id', '=', buildId).forUpdate().executeTakeFirst()
  if (job === undefined || job.server_id === null) {
    await settleBuild(tx, buildId, { kind: 'failed', message: reason })
    return
  }
  await tx
    .updateTable('build_job')
    .set({ cancel_reason: sql<string>`coalesce(cancel_reason, ${reason})` })
    .where('build_id', '=', buildId)
    .execute()
  await notify(tx, CHANNELS.buildChanged, buildId)
}
