import type { Database, Tx } from '@sandyard/db/database'
import { RememberedAnswer, type OnceRequest } from './remembered-answer.ts'

/**
 * Runs a create whose whole effect is one transaction, at most once for each idempotency key: the key, the work and its answer are one
 * transaction, so a process that dies leaves all of it or nothing. A repeat gets the same answer, also one with a credential; a concurrent repeat
 * waits for the first request. A failed one frees its key. Without a key it is only the transaction.
 *
 * @param work its answer must survive JSON
 * @throws AppError `unprocessable` when the key was used for another request; the errors of `work`
 */
export async function createOnce<T>(database: Database, request: OnceRequest, work: (tx: Tx) => Promise<T>): Promise<T> {
  const { idempotent } = request
  if (idempotent === undefined) return database.transaction(work)
  const remembered = new RememberedAnswer<T>(request, idempotent)
  return database.transaction(async (tx) => {
    if (!(await remembered.claim(tx))) return (await remembered.find(tx)) as T
    const answer = await work(tx)
    await remembered.store(tx, answer)
    return answer
  })
}
