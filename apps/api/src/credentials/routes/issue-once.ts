import type { FastifyReply } from 'fastify'
import type { TObject } from 'typebox'
import type { OperationId } from '@sandyard/api-contract/operations'
import type { Tx } from '@sandyard/db/database'
import type { AppContext } from '../../context.ts'
import { createOnce } from '../../idempotency/create-once.ts'
import { idempotentOperation } from '../../idempotency/idempotency-header.ts'
import { readNewCredential } from '../new-credential.ts'

export interface IssueRequest {
  readonly operationId: OperationId
  /** The team or user whose idempotency keys are compared. */
  readonly ownerId: string
  /** The end of the access token that asks, if it has one: what it makes does not outlive it. */
  readonly endsWith?: Date | undefined
  readonly headers: { readonly 'idempotency-key'?: string }
  readonly schema: TObject
  readonly body: { readonly name: string; readonly expiresAt?: string }
}

/** Answers with a new credential, in one transaction; a repeat with the same idempotency key gets the same one. No cache may store it. */
export async function issueOnce<T>(
  ctx: AppContext,
  reply: FastifyReply,
  { operationId, ownerId, endsWith, headers, schema, body }: IssueRequest,
  work: (tx: Tx, expiresAt: Date | undefined) => Promise<T>,
): Promise<T> {
  const { tokenSeed } = ctx.installation
  // A repeat with a token that ends does not get a credential that stays.
  const once = idempotentOperation(operationId, { headers, body }, { tokenSeed, schema, target: endsWith?.toISOString() ?? '' })
  const issued = await createOnce(ctx.database, { ...once, tokenSeed, ownerId }, (tx) =>
    work(tx, earlier(readNewCredential(body), endsWith)),
  )
  void reply.code(201).header('cache-control', 'no-store')
  return issued
}

function earlier(asked: Date | undefined, latest: Date | undefined): Date | undefined {
  if (asked === undefined || latest === undefined) return asked ?? latest
  return asked < latest ? asked : latest
}
