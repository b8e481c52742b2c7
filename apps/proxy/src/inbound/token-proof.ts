import type { Problem } from '../answers/proxy-error.ts'
import { parseSignedUrl, signatureTest } from './signed-url.ts'

/** What a request that names no sandbox shows of the token of its sandbox: a signature that was made with it, or the token itself. */
export interface TokenProof {
  /** The same text always belongs to the same sandbox. */
  readonly key: string
  /** The token itself, or how to test one. Undefined when no token can match. A test takes the same time for each token. */
  readonly token: () => string | ((token: string) => boolean) | undefined
  /** The answer when no sandbox has the token. */
  readonly refusal: Problem
}

/** Of `sandboxAccessToken`. */
const TOKEN = /^[0-9a-f]{64}$/

/** Of a signed URL of `/files` (clients.md 1.6); undefined without a signature. */
export function signedUrlProof(operation: 'read' | 'write', search: string): TokenProof | undefined {
  const url = parseSignedUrl(operation, search)
  return url && { key: url.signature, token: () => signatureTest(url), refusal: { kind: 'invalid_signature' } }
}

/**
 * Of the header `X-Access-Token`. Older clients send no other sign of their sandbox with some requests: e2b of npm before 2.14 with those for files
 * and `/health`, e2b of PyPI before 2.26 with all after `connect`.
 */
export function accessTokenProof(presented: string): TokenProof {
  const token = TOKEN.test(presented) ? presented : undefined
  return { key: `token ${presented}`, token: () => token, refusal: { kind: 'not_found', sandboxId: undefined } }
}
