import { randomUUID } from 'node:crypto'
import type { Secret } from '@sandyard/kit/config/secret'
import type { IdentityKey } from './identity-key.ts'

/** How long a token is valid. */
export const IDENTITY_TOKEN_SECONDS = 300

export interface Identity {
  /** A URL. Its host is the trust domain. */
  readonly issuer: string
  readonly teamId: string
  readonly sandboxId: string
  readonly audience: string
  /** Seconds since 1970. */
  readonly now: number
}

/** A JWT-SVID that says which sandbox a request comes from (control-plane.md 18.5). */
export function identityToken(key: IdentityKey, { issuer, teamId, sandboxId, audience, now }: Identity): Secret {
  return key.sign({
    iss: issuer,
    sub: `spiffe://${new URL(issuer).hostname}/team/${teamId}/sandbox/${sandboxId}`,
    aud: [audience],
    iat: now,
    nbf: now,
    exp: now + IDENTITY_TOKEN_SECONDS,
    jti: randomUUID(),
  })
}
