import type { Tx } from '@sandyard/db/database'

/**
 * Serialises, until the end of the transaction, the requests of a team that create sandboxes, builds and names or delete templates. To
 * avoid deadlocks, it is taken before every other lock.
 */
export async function lockTeam(tx: Tx, teamId: string): Promise<void> {
  await tx.selectFrom('team').select('id').where('id', '=', teamId).forNoKeyUpdate().executeTakeFirstOrThrow()
}
