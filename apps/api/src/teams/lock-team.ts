import type { Tx } from '@sandyard/db/database'

/**
 * Has the requests that reserve something of a team take turns until the end of the transaction: new sandboxes, builds and names, and
 * the end of templates. It comes before every other lock.
 */
export async function lockTeam(tx: Tx, teamId: string): Promise<void> {
  await tx.selectFrom('team').select('id').where('id', '=', teamId).forNoKeyUpdate().executeTakeFirstOrThrow()
}
