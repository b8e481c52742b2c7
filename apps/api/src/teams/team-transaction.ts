import { sql } from 'kysely'
import type { Database, Tx } from '@sandyard/db/database'
import { keptPlan } from '@sandyard/db/kept-plan'
import type { TurnRequest } from '@sandyard/db/turns'
import { AppError } from '@sandyard/kit/errors/app-error'
import { currentScope } from '@sandyard/kit/tracing/scope'
import { LIMIT_COLUMNS, toOwnLimits, type OwnLimits } from './team-limits.ts'

declare const LOCKED: unique symbol

/** A team whose row is locked until the end of a transaction. Only `teamTransaction` makes one. */
export interface LockedTeam {
  readonly tx: Tx
  readonly id: string
  /** The limits in its row, which do not change meanwhile. */
  readonly own: OwnLimits
  readonly [LOCKED]: true
}

export interface TeamTurn {
  readonly teamId: string
  /**
   * It goes first, is not refused because many requests of the team wait, and does not end with its client: work of the server and of its administrators,
   * and the end of work that is done already.
   */
  readonly isUrgent?: boolean
  /** The error for a team that is not there. Default: `unauthenticated`, because it was deleted since the request was authenticated. */
  readonly onGone?: () => Error
}

/**
 * Runs `work` in one transaction that locks the row of a team, and so comes after every other one that changes what is counted for the team or has a name in
 * it: sandboxes, builds, templates, volumes, webhooks, secrets, keys, what it stores. On one server these wait for each other without a connection to the
 * database, so that the burst of a team does not take all of them from the others. To avoid deadlocks, the lock is taken before every other one.
 *
 * @throws AppError `resource_exhausted` when too many wait, or the others take too long; `canceled` when the client has gone; the error of `work`
 */
export async function teamTransaction<T>(
  database: Database,
  { teamId, isUrgent, onGone = notAuthenticated }: TeamTurn,
  work: (team: LockedTeam) => Promise<T>,
): Promise<T> {
  return database.transactionInTurn(turnOf([teamId], isUrgent), async (tx) => {
    const own = await lockTeam(tx, teamId)
    if (own === undefined) throw onGone()
    return work({ tx, id: teamId, own } as LockedTeam)
  })
}

/** The same for several teams. Those that are not there are left out. */
export async function teamsTransaction<T>(database: Database, teamIds: readonly string[], work: (tx: Tx) => Promise<T>): Promise<T> {
  return database.transactionInTurn(turnOf(teamIds), async (tx) => {
    const ids = sql<string>`any(${teamIds}::uuid[])`
    await tx.selectFrom('team').select('id').where('id', '=', ids).orderBy('id').forNoKeyUpdate().execute()
    return work(tx)
  })
}

async function lockTeam(tx: Tx, teamId: string): Promise<OwnLimits | undefined> {
  const team = await tx
    .selectFrom('team')
    .select(LIMIT_COLUMNS)
    .where('id', '=', teamId)
    .forNoKeyUpdate()
    .modifyEnd(keptPlan)
    .executeTakeFirst()
  return team && toOwnLimits(team)
}

function turnOf(teamIds: readonly string[], isUrgent = false): TurnRequest {
  const signal = isUrgent ? undefined : currentScope()?.request?.gone
  return { owners: teamIds.map((id) => id.toLowerCase()), isUrgent, signal, onRefused: tooManyWait }
}

function tooManyWait(): AppError {
  return new AppError('resource_exhausted', 'Too many requests of the team wait for each other: try again', {
    headers: { 'retry-after': '1' },
  })
}

function notAuthenticated(): AppError {
  return new AppError('unauthenticated', 'You are not authenticated')
}
