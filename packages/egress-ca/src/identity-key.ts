import { createECDH, createHash, createPrivateKey, hkdfSync, sign, type KeyObject } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import { Secret } from '@sandyard/kit/config/secret'

/** The public half, as verifiers read it (RFC 7517). */
export interface IdentityJwk {
  readonly kty: 'EC'
  readonly crv: 'P-256'
  readonly x: string
  readonly y: string
  readonly kid: string
  readonly use: 'sig'
  readonly alg: 'ES256'
}

/** The key that signs the identity tokens of sandboxes. */
export interface IdentityKey {
  readonly jwk: IdentityJwk
  /** @param claims of a JWT */
  sign(claims: Readonly<Record<string, unknown>>): Secret
}

/** Derives the key from the seed of the installation: every process makes the same one, and none stores it. */
export function identityKey(tokenSeed: Secret): IdentityKey {
  // 48 bytes, so that the reduction modulo the order of the curve has no bias (FIPS 186-5 A.2.1).
  const seed = new Uint8Array(hkdfSync('sha256', tokenSeed.reveal(), '', 'sandyard identity tokens', 48))
  const secretKey = Buffer.from(p256.utils.randomSecretKey(seed))
  const curve = createECDH('prime256v1')
  curve.setPrivateKey(secretKey)
  const point = curve.getPublicKey()
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url')) as [string, string]
  const key = createPrivateKey({ key: { kty: 'EC', crv: 'P-256', x, y, d: secretKey.toString('base64url') }, format: 'jwk' })
  const kid = thumbprint(x, y)
  return {
    jwk: { kty: 'EC', crv: 'P-256', x, y, kid, use: 'sig', alg: 'ES256' },
    sign: (claims) => toJwt(key, { alg: 'ES256', typ: 'JWT', kid }, claims),
  }
}

/** RFC 7638. */
function thumbprint(x: string, y: string): string {
  return createHash('sha256')
    .update(JSON.stringify({ crv: 'P-256', kty: 'EC', x, y }))
    .digest('base64url')
}

function toJwt(key: KeyObject, header: object, claims: object): Secret {
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' })
  return new Secret(`${signed}.${signature.toString('base64url')}`)
}
