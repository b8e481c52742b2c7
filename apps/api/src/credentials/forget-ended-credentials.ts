import type { Db } from '@sandyard/db/database'
import { deleteOlder } from '@sandyard/db/delete-older'
import { secondsAgo } from '@sandyard/db/statement-time'

/** Lists show ended keys so long, so that their users see why they are refused. */
const KEPT_SECONDS = 7 * 24 * 3600

/** Deletes the keys and access tokens that ended long ago, in batches. */
export async function forgetEndedCredentials(db: Db): Promise<void> {
  for (const table of ['api_key', 'access_token'] as const) {
    // Each delete makes all servers forget the credentials they know, also one that finds nothing.
    const ended = db.selectFrom(table).select('id').where('expires_at', '<', secondsAgo(KEPT_SECONDS)).limit(1)
    if ((await ended.executeTakeFirst()) !== undefined) await deleteOlder(db, { table, time: 'expires_at', ageMs: KEPT_SECONDS * 1000 })
  }
}
