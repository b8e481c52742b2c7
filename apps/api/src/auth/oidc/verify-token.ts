import { errors, jwtVerify, type JWTPayload } from 'jose'
import { MAX_EMAIL_LENGTH } from '@sandyard/api-contract/administration/email-bounds'
import type { IssuerKeys } from './issuer-keys.ts'
import type { OidcConfig } from './oidc-config.ts'

/** Asymmetric ones only: a shared secret, or no signature, proves nothing. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA']
const SKEW_SECONDS = 60
/** OpenID Connect Core 1.0, 2. */
const MAX_SUBJECT_LENGTH = 255

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
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT_LENGTH) {
    throw new errors.JWTClaimValidationFailed('the subject is empty or too long', payload, 'sub', 'invalid')
  }
  return { subject: sub, email: verifiedEmail(payload), expiresAt: new Date(((exp ?? 0) + SKEW_SECONDS) * 1000) }
}

function verifiedEmail({ email, email_verified: isVerified }: JWTPayload): string | undefined {
  const isAddress = typeof email === 'string' && email.length <= MAX_EMAIL_LENGTH && /^[^@\s]+@[^@\s]+$/.test(email)
  return isVerified === true && isAddress ? email : undefined
}
