import { createHmac } from 'node:crypto'
import type { Db, Tx } from '@sandyard/db/database'
import { Secret } from '@sandyard/kit/config/secret'
import { KeyRing } from '@sandyard/kit/secrets/key-ring'
import { deriveKey } from '../settings/installation.ts'
import { requestMismatch } from './idempotency-errors.ts'
import type { IdempotentRequest } from './sandbox-keys.ts'

/** An operation with the idempotency key of its request. */
export interface IdempotentOperation {
  readonly operationId: string
  /** Undefined without a key. */
  readonly idempotent: IdempotentRequest | undefined
}

export interface OnceRequest extends IdempotentOperation {
  readonly tokenSeed: Secret
  /** The team or user whose keys are compared. */
  readonly ownerId: string
}

/**
 * The answer under an idempotency key. It may hold a credential: only who has the key can open it, and the key is not stored. It is kept as long
 * as the keys of creates of sandboxes.
 */
export class RememberedAnswer<T> {
  readonly #id: { readonly owner_id: string; readonly operation: string; readonly key_digest: string }
  readonly #requestHash: string
  readonly #ring: KeyRing

  constructor({ tokenSeed, ownerId, operationId }: OnceRequest, { key, requestHash }: IdempotentRequest) {
    const digest = createHmac('sha256', tokenSeed.reveal()).update(`idempotency key\n${key}`).digest('hex')
    this.#id = { owner_id: ownerId, operation: operationId, key_digest: digest }
    this.#requestHash = requestHash
    this.#ring = new KeyRing([new Secret(Buffer.from(deriveKey(tokenSeed, `remembered answer ${key}`)).toString('hex'))])
  }

  /** Undefined when no request with the key has succeeded. @throws AppError `unprocessable` when that request was another one */
  async find(db: Db): Promise<T | undefined> {
    const row = await db
      .selectFrom('remembered_answer')
      .select(['request_hash', 'sealed_answer'])
      .where((eb) => eb.and(this.#id))
      .executeTakeFirst()
    if (row === undefined) return undefined
    if (row.request_hash !== this.#requestHash) throw requestMismatch()
    const sealed = { keyId: this.#ring.keyId, sealed: row.sealed_answer as Buffer }
    return JSON.parse(this.#ring.open(this.#place, sealed)) as T
  }

  /** False when another request has the key. Waits for a transaction that has claimed it and is not over. `store` follows in this one. */
  async claim(tx: Tx): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('remembered_answer')
      .values({ ...this.#id, request_hash: this.#requestHash })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    return (numInsertedOrUpdatedRows ?? 0n) > 0n
  }

  /** @param answer must survive JSON */
  async store(tx: Tx, answer: T): Promise<void> {
    const { sealed } = this.#ring.seal(this.#place, JSON.stringify(answer))
    await tx
      .updateTable('remembered_answer')
      .set({ sealed_answer: sealed })
      .where((eb) => eb.and(this.#id))
      .execute()
  }

  get #place(): string {
    return Object.values(this.#id).join('\n')
  }
}
