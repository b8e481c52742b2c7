import type { FastifyReply } from 'fastify'
import type { TObject } from 'typebox'
import type { OperationId } from '@sandyard/api-contract/operations'
import type { AppContext } from '../../context.ts'
import { idempotentOperation } from '../../idempotency/idempotency-header.ts'
import type { OnceRequest } from '../../idempotency/remembered-answer.ts'
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

/**
 * Answers with a new credential, which no cache may store.
 *
 * @param issue creates it once for `once`, with the end that `endOf` gives: that throws for a wrong one, which a repeat must not be refused for
 */
export async function issueOnce<T>(
  ctx: AppContext,
  reply: FastifyReply,
  { operationId, ownerId, endsWith, headers, schema, body }: IssueRequest,
  issue: (once: OnceRequest, endOf: () => Date | undefined) => Promise<T>,
): Promise<T> {
  const { tokenSeed } = ctx.installation
  // A repeat with a token that ends does not get a credential that stays.
  const once = idempotentOperation(operationId, { headers, body }, { tokenSeed, schema, target: endsWith?.toISOString() ?? '' })
  const issued = await issue({ ...once, tokenSeed, ownerId }, () => earlier(readNewCredential(body), endsWith))
  void reply.code(201).header('cache-control', 'no-store')
  return issued
}

function earlier(asked: Date | undefined, latest: Date | undefined): Date | undefined {
  if (asked === undefined || latest === undefined) return asked ?? latest
  return asked < latest ? asked : latest
}
