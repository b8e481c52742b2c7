import { sql, type RawBuilder } from 'kysely'
import type { Db, Tx } from '@sandyard/db/database'
import { inProgress, requestMismatch } from './idempotency-errors.ts'
import type { SandboxAnswer } from '../sandboxes/read/sandbox-view.ts'

/** A create request with an idempotency key (clients-python-2.63.md 3). */
export interface IdempotentRequest {
  readonly key: string
  readonly requestHash: string
}

/** How long a key is stored. */
export const KEY_RETENTION_MS = 24 * 3_600_000

/**
 * The stored answer to an earlier request with the same key; undefined when there was none.
 *
 * @throws AppError `unprocessable` when the earlier request was different; `conflict` while it is in flight
 */
export async function findRemembered(db: Db, teamId: string, request: IdempotentRequest): Promise<SandboxAnswer | undefined> {
  const row = await db
    .selectFrom('idempotency_key')
    .select(['request_hash', 'answer'])
    .where('team_id', '=', teamId)
    .where('key', '=', request.key)
    .executeTakeFirst()
  if (row === undefined) return undefined
  if (row.request_hash !== request.requestHash) {
    throw requestMismatch()
  }
  if (row.answer === null) {
    throw inProgress()
  }
  return row.answer as SandboxAnswer
}

/** Claims the key for the sandbox that is being reserved. False when another request has it. */
export async function claimKey(tx: Tx, teamId: string, { key, requestHash }: IdempotentRequest, sandboxId: string): Promise<boolean> {
  const result = await tx
    .insertInto('idempotency_key')
    .values({ team_id: teamId, key, request_hash: requestHash, sandbox_id: sandboxId })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** SQL: stores the answer under the sandbox's idempotency key, if there is one, in a change of its state (`StateChange.also`). */
export function rememberingAnswer(answer: SandboxAnswer): RawBuilder<unknown> {
  return sql`update idempotency_key set answer = ${JSON.stringify(answer)}::jsonb from changed where idempotency_key.sandbox_id = changed.sandbox_id`
}

/** Frees the key of a failed create, after its sandbox was removed. A key with an answer stays. */
export async function releaseKey(tx: Tx, sandboxId: string): Promise<void> {
  await tx.deleteFrom('idempotency_key').where('sandbox_id', '=', sandboxId).where('answer', 'is', null).execute()
}
