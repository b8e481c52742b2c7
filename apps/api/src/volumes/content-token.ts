import { randomUUID } from 'node:crypto'
import { AppError } from '@sandyard/kit/errors/app-error'
import { loadOnce } from '@sandyard/kit/async/load-once'
import type { Secret } from '@sandyard/kit/config/secret'
import { isUuid } from '@sandyard/kit/ids/uuid'
import type { Grantor } from '../auth/grantor.ts'
import { deriveKey } from '../settings/installation.ts'

/** What a token allows: `r` reads, `rw` also writes. */
type ContentAccess = 'r' | 'rw'

export interface ContentGrant {
  readonly teamId: string
  readonly volumeId: string
  readonly access: ContentAccess
  /** The token ends with it. */
  readonly grantor: Grantor
}

export interface TokenParts {
  readonly tokenSeed: Secret
  /** The domain of the installation, with a port if there is one. */
  readonly domain: string
}

/** Loaded by the first token: most servers have no volumes. */
const loadJose = loadOnce(() => import('jose'))

const ALGORITHM = 'HS256'
const KEY_ID = 'volume-content-1'
const LIFETIME_SECONDS = 3600
/** The clocks of servers differ. */
const TOLERANCE_SECONDS = 5

export interface ContentTokenOptions {
  /** The runtime that has the volume. */
  readonly type: string
  /** The end of the credential that asks, if it has one. */
  readonly endsWith?: Date | undefined
}

/** A credential of the content of one volume (control-plane.md 15.3). */
export async function issueContentToken(parts: TokenParts, grant: ContentGrant, { type, endsWith }: ContentTokenOptions): Promise<string> {
  const { SignJWT } = await loadJose()
  const { teamId, volumeId, access, grantor } = grant
  const issuer = issuerOf(parts)
  const now = Math.floor(Date.now() / 1000)
  const latest = endsWith === undefined ? Infinity : Math.floor(endsWith.getTime() / 1000)
  const by = { key: grantor.apiKeyId, user: grantor.userId, token: grantor.accessTokenId, admin: grantor.isAdmin }
  return new SignJWT({ volid: volumeId, voltype: type, acc: access, by })
    .setProtectedHeader({ alg: ALGORITHM, kid: KEY_ID })
    .setIssuer(issuer)
    .setAudience(issuer)
    .setSubject(teamId)
    .setIssuedAt(now)
    .setNotBefore(now)
    .setExpirationTime(Math.min(now + LIFETIME_SECONDS, latest))
    .setJti(randomUUID())
    .sign(keyOf(parts))
}

/** @throws AppError `unauthenticated` for a token that this installation did not issue, or an expired one */
export async function readContentToken(parts: TokenParts, token: string): Promise<ContentGrant> {
  const issuer = issuerOf(parts)
  const { errors, jwtVerify } = await loadJose()
  const options = { algorithms: [ALGORITHM], issuer, audience: issuer, clockTolerance: TOLERANCE_SECONDS, requiredClaims: ['exp', 'sub'] }
  try {
    const { payload } = await jwtVerify(token, keyOf(parts), options)
    const { sub, volid, acc, by } = payload
    const grantor = readGrantor(by)
    if (grantor === undefined || !isId(sub) || !isId(volid) || (acc !== 'r' && acc !== 'rw'))
      throw new errors.JWTInvalid('claims are missing')
    return { teamId: sub, volumeId: volid, access: acc, grantor }
  } catch (err) {
    if (!(err instanceof errors.JOSEError)) throw err
    const message = err instanceof errors.JWTExpired ? 'The token of the volume has expired' : 'The token of the volume is not valid'
    throw new AppError('unauthenticated', message, { cause: err })
  }
}

function readGrantor(by: unknown): Grantor | undefined {
  if (typeof by !== 'object' || by === null) return undefined
  const { key, user, token, admin } = by as Readonly<Record<string, unknown>>
  if (![key, user, token].every((id) => id === undefined || isId(id))) return undefined
  return {
    ...(isId(key) && { apiKeyId: key }),
    ...(isId(user) && { userId: user }),
    ...(isId(token) && { accessTokenId: token }),
    ...(admin === true && { isAdmin: true }),
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
