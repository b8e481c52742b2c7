import { Type, type TObject } from 'typebox'
import type { OperationId } from '@sandyard/api-contract/operations'
import type { Secret } from '@sandyard/kit/config/secret'
import { knownFields } from './canonical-json.ts'
import { hashRequest } from './request-hash.ts'
import type { IdempotentOperation } from './remembered-answer.ts'
import type { IdempotentRequest } from './sandbox-keys.ts'

export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({ pattern: '^[a-z0-9-]{1,255}$', description: 'Requests with the same key have the same answer and one effect' }),
  ),
})

/** Reads the idempotency key and the hash of the request; undefined without the header. */
export function readIdempotency(
  key: string | undefined,
  { tokenSeed, operationId, schema, body }: { tokenSeed: Secret; operationId: string; schema: TObject; body: unknown },
): IdempotentRequest | undefined {
  return key === undefined ? undefined : { key, requestHash: hashRequest(tokenSeed, operationId, knownFields(schema, body)) }
}

export interface OperationRequest {
  readonly headers: { readonly 'idempotency-key'?: string | undefined }
  readonly body: unknown
}

/**
 * The operation with the key of its request, for `createOnce`.
 *
 * @param target what the path names: the same body for another object is another request
 */
export function idempotentOperation(
  operationId: OperationId,
  { headers, body }: OperationRequest,
  { tokenSeed, schema, target = '' }: { readonly tokenSeed: Secret; readonly schema: TObject; readonly target?: string },
): IdempotentOperation {
  const idempotent = readIdempotency(headers['idempotency-key'], { tokenSeed, operationId: `${operationId} ${target}`, schema, body })
  return { operationId, idempotent }
}
