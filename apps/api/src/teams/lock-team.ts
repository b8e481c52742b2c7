import type { Tx } from '@sandyard/db/database'
import { LIMIT_COLUMNS, toOwnLimits, type OwnLimits } from './team-limits.ts'

/**
 * Serialises, until the end of the transaction, the requests of a team that create sandboxes, builds and names or delete templates. To
 * avoid deadlocks, it is taken before every other lock.
 *
 * @returns the limits in its row, which do not change until then
 */
export async function lockTeam(tx: Tx, teamId: string): Promise<OwnLimits> {
  return toOwnLimits(await tx.selectFrom('team').select(LIMIT_COLUMNS).where('id', '=', teamId).forNoKeyUpdate().executeTakeFirstOrThrow())
}
