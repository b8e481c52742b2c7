import { createHmac } from 'node:crypto'
import type { Secret } from '@sandyard/kit/config/secret'
import { canonicalJson } from './canonical-json.ts'

/**
 * The hash by which requests with the same idempotency key are compared. The order of fields does not change it. It is keyed, because
 * bodies contain secrets.
 *
 * @param body only with the fields of the interface
 * @throws AppError `invalid_argument` for a body that is nested too deeply
 */
export function hashRequest(tokenSeed: Secret, operationId: string, body: unknown): string {
  return createHmac('sha256', tokenSeed.reveal())
    .update(`${operationId}\n${canonicalJson(body)}`)
    .digest('hex')
}
