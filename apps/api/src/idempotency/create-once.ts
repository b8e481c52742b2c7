import type { Database, Tx } from '@sandyard/db/database'
import { teamTransaction, type LockedTeam, type TeamTurn } from '../teams/team-transaction.ts'
import { inProgress } from './idempotency-errors.ts'
import { RememberedAnswer, type OnceRequest } from './remembered-answer.ts'

/** A key is kept for a day; that it ends in the moment of a repeat does not come twice. */
const ATTEMPTS = 3

/**
 * Runs a create whose whole effect is one transaction, at most once for each idempotency key: the key, the work and its answer are one
 * transaction, so a process that dies leaves all of it or nothing. A repeat gets the same answer, also one with a credential; a concurrent repeat
 * waits for the first request. A failed one frees its key. Without a key it is only the transaction.
 *
 * @param work its answer must survive JSON
 * @throws AppError `unprocessable` when the key was used for another request; the errors of `work`
 */
export async function createOnce<T>(database: Database, request: OnceRequest, work: (tx: Tx) => Promise<T>): Promise<T> {
  return database.transaction((tx) => once(tx, request, () => work(tx)))
}

/** The same for a create that locks its owner, a team. @throws AppError also those of `teamTransaction` */
export async function createOnceInTeam<T>(
  database: Database,
  request: OnceRequest & Omit<TeamTurn, 'teamId'>,
  work: (team: LockedTeam) => Promise<T>,
): Promise<T> {
  const turn = { ...request, teamId: request.ownerId }
  return teamTransaction(database, turn, (team) => once(team.tx, request, () => work(team)))
}

async function once<T>(tx: Tx, request: OnceRequest, work: () => Promise<T>): Promise<T> {
  const { idempotent } = request
  if (idempotent === undefined) return work()
  const remembered = new RememberedAnswer<T>(request, idempotent)
  for (let attempt = 1; !(await remembered.claim(tx)); attempt += 1) {
    const found = await remembered.find(tx)
    if (found !== undefined) return found
    // Its day ended between the two statements, so the key is free.
    if (attempt === ATTEMPTS) throw inProgress()
  }
  const answer = await work()
  await remembered.store(tx, answer)
  return answer
}
