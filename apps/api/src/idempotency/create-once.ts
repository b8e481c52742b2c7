import { createHmac } from 'node:crypto'
import type { Database, Tx } from '@sandyard/db/database'
import { Secret } from '@sandyard/kit/config/secret'
import { KeyRing } from '@sandyard/kit/secrets/key-ring'
import { deriveKey } from '../settings/installation.ts'
import { requestMismatch } from './idempotency-errors.ts'
import type { IdempotentRequest } from './sandbox-keys.ts'

/** A create whose whole effect is one transaction. */
export interface OnceRequest {
  readonly tokenSeed: Secret
  /** The team or user whose keys are compared. */
  readonly ownerId: string
  readonly operationId: string
  /** Undefined without an idempotency key: then the work is only a transaction. */
  readonly idempotent: IdempotentRequest | undefined
}

/**
 * Runs a create at most once for each idempotency key: the key, the work and its answer are one transaction, so a process that dies leaves all
 * of it or nothing. A repeat gets the same answer, also one with a credential; a concurrent repeat waits for the first request. A failed one
 * frees its key.
 *
 * @param work its answer must survive JSON
 * @throws AppError `unprocessable` when the key was used for another request; the errors of `work`
 */
export async function createOnce<T>(database: Database, request: OnceRequest, work: (tx: Tx) => Promise<T>): Promise<T> {
  const { tokenSeed, ownerId, operationId, idempotent } = request
  if (idempotent === undefined) return database.transaction(work)
  const { key, requestHash } = idempotent
  const keyDigest = createHmac('sha256', tokenSeed.reveal()).update(`idempotency key\n${key}`).digest('hex')
  const id = { owner_id: ownerId, operation: operationId, key_digest: keyDigest }
  const ring = ringOf(tokenSeed, key)
  const place = Object.values(id).join('\n')
  return database.transaction(async (tx) => {
    const claimed = await tx
      .insertInto('remembered_answer')
      .values({ ...id, request_hash: requestHash })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    const isRepeat = claimed.numInsertedOrUpdatedRows === 0n
    const rows = tx.selectFrom('remembered_answer').where((eb) => eb.and(id))
    if (isRepeat) {
      const { request_hash, sealed_answer } = await rows.select(['request_hash', 'sealed_answer']).executeTakeFirstOrThrow()
      if (request_hash !== requestHash) throw requestMismatch()
      return JSON.parse(ring.open(place, { keyId: ring.keyId, sealed: sealed_answer as Buffer })) as T
    }
    const answer = await work(tx)
    await tx
      .updateTable('remembered_answer')
      .set({ sealed_answer: ring.seal(place, JSON.stringify(answer)).sealed })
      .where((eb) => eb.and(id))
      .execute()
    return answer
  })
}

/** Only who has the idempotency key can open its answer. */
function ringOf(tokenSeed: Secret, key: string): KeyRing {
  return new KeyRing([new Secret(Buffer.from(deriveKey(tokenSeed, `remembered answer ${key}`)).toString('hex'))])
}
