import { Type, type TObject } from 'typebox'
import type { Secret } from '@sandyard/kit/config/secret'
import { knownFields } from './canonical-json.ts'
import { hashRequest } from './request-hash.ts'
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
