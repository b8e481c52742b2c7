import { errors, jwtVerify, type JWTPayload } from 'jose'
import type { IssuerKeys } from './issuer-keys.ts'
import type { OidcConfig } from './oidc-config.ts'

/** Asymmetric ones only: a shared secret, or no signature, proves nothing. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA']
const SKEW_SECONDS = 60

export interface VerifiedToken {
  readonly subject: string
  /** Undefined unless the provider has verified it. */
  readonly email: string | undefined
  /** From then on the token is refused. */
  readonly expiresAt: Date
}

/**
 * Verifies the signature, the issuer, the audience and the time of a token (OpenID Connect Core 1.0, 3.1.3.7).
 *
 * @throws JOSEError with the reason of a refusal; another error for a key that cannot be used
 */
export async function verifyToken(token: string, { issuer, audience }: OidcConfig, keys: IssuerKeys): Promise<VerifiedToken> {
  const { payload } = await jwtVerify(token, (header, input) => keys.find(header, input), {
    issuer,
    audience,
    algorithms: ALGORITHMS,
    clockTolerance: SKEW_SECONDS,
    requiredClaims: ['iss', 'aud', 'exp', 'sub'],
  })
  const { sub, exp } = payload
  if (typeof sub !== 'string' || sub === '') throw new errors.JWTClaimValidationFailed('the subject is empty', payload, 'sub', 'invalid')
  return { subject: sub, email: verifiedEmail(payload), expiresAt: new Date(((exp ?? 0) + SKEW_SECONDS) * 1000) }
}

function verifiedEmail({ email, email_verified: isVerified }: JWTPayload): string | undefined {
  return isVerified === true && typeof email === 'string' && /^[^@\s]+@[^@\s]+$/.test(email) ? email : undefined
}
