import { randomUUID } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Secret } from '@sandyard/kit/config/secret'
import { isUuid } from '@sandyard/kit/ids/uuid'
import { deriveKey } from '../settings/installation.ts'

/** What a token allows: `r` reads, `rw` also writes. */
type ContentAccess = 'r' | 'rw'

export interface ContentGrant {
  readonly teamId: string
  readonly volumeId: string
  readonly access: ContentAccess
}

export interface TokenParts {
  readonly tokenSeed: Secret
  /** The domain of the installation, with a port if there is one. */
  readonly domain: string
}

const ALGORITHM = 'HS256'
const KEY_ID = 'volume-content-1'
const LIFETIME_SECONDS = 3600
/** The clocks of servers differ. */
const TOLERANCE_SECONDS = 5

/** A credential of the content of one volume (control-plane.md 15.3). `type` names the runtime that has it. */
export function issueContentToken(parts: TokenParts, { teamId, volumeId, access }: ContentGrant, type: string): Promise<string> {
  const issuer = issuerOf(parts)
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT({ volid: volumeId, voltype: type, acc: access })
    .setProtectedHeader({ alg: ALGORITHM, kid: KEY_ID })
    .setIssuer(issuer)
    .setAudience(issuer)
    .setSubject(teamId)
    .setIssuedAt(now)
    .setNotBefore(now)
    .setExpirationTime(now + LIFETIME_SECONDS)
    .setJti(randomUUID())
    .sign(keyOf(parts))
}

/** @throws AppError `unauthenticated` for a token that this installation did not issue, or an expired one */
export async function readContentToken(parts: TokenParts, token: string): Promise<ContentGrant> {
  const issuer = issuerOf(parts)
  const options = { algorithms: [ALGORITHM], issuer, audience: issuer, clockTolerance: TOLERANCE_SECONDS, requiredClaims: ['exp', 'sub'] }
  try {
    const { payload } = await jwtVerify(token, keyOf(parts), options)
    const { sub, volid, acc } = payload
    if (!isId(sub) || !isId(volid) || (acc !== 'r' && acc !== 'rw')) throw new errors.JWTInvalid('claims are missing')
    return { teamId: sub, volumeId: volid, access: acc }
  } catch (err) {
    if (!(err instanceof errors.JOSEError)) throw err
    const message = err instanceof errors.JWTExpired ? 'The token of the volume has expired' : 'The token of the volume is not valid'
    throw new AppError('unauthenticated', message, { cause: err })
  }
}

function isId(claim: unknown): claim is string {
  return typeof claim === 'string' && isUuid(claim)
}

/** Clients reach the content under this address by default (control-plane.md 15.4). */
function issuerOf({ domain }: TokenParts): string {
  return `https://api.${domain}`
}

function keyOf({ tokenSeed }: TokenParts): Uint8Array {
  return deriveKey(tokenSeed, 'volume content')
}
