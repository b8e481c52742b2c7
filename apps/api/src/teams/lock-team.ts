import type { Tx } from '@sandyard/db/database'
import { keptPlan } from '@sandyard/db/kept-plan'
import { AppError } from '@sandyard/kit/errors/app-error'
import { LIMIT_COLUMNS, toOwnLimits, type OwnLimits } from './team-limits.ts'

/**
 * Serialises, until the end of the transaction, the requests of a team that create sandboxes, builds and names or delete templates. To
 * avoid deadlocks, it is taken before every other lock.
 *
 * @returns the limits in its row, which do not change until then
 * @throws AppError `unauthenticated` for a team that was deleted since the request was authenticated
 */
export async function lockTeam(tx: Tx, teamId: string): Promise<OwnLimits> {
  const team = await tx
    .selectFrom('team')
    .select(LIMIT_COLUMNS)
    .where('id', '=', teamId)
    .forNoKeyUpdate()
    .modifyEnd(keptPlan)
    .executeTakeFirst()
  if (team === undefined) throw new AppError('unauthenticated', 'You are not authenticated')
  return toOwnLimits(team)
}
