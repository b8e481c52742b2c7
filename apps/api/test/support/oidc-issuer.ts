import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose'

interface SigningKey {
  readonly kid: string
  readonly alg: string
  readonly privateKey: CryptoKey
  readonly publicJwk: JWK
}

interface SignOptions {
  readonly claims?: JWTPayload
  /** Claims that the token does not have. */
  readonly without?: readonly string[]
  readonly alg?: string
  /** Default: one that the issuer publishes. */
  readonly key?: SigningKey
}

/** An OpenID provider on a port of its own. Tests change its fields. */
export interface OidcIssuer extends AsyncDisposable {
  readonly url: string
  /** What its configuration says. Default: its URL. */
  claimedIssuer: string
  /** It accepts requests and does not answer. */
  isHanging: boolean
  isDown: boolean
  /** Requests for its keys. */
  readonly keyRequests: () => number
  /** Signs for `user` and the audience `sandyard`, valid for an hour. */
  sign(subject: string, options?: SignOptions): Promise<string>
  /** Replaces the keys. Returns the former RSA key. */
  rotate(): Promise<SigningKey>
  /** As published. */
  readonly publicKeys: () => readonly JWK[]
}

export const AUDIENCE = 'sandyard'

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA']

export async function startOidcIssuer(): Promise<OidcIssuer> {
  let keys = await makeKeys()
  let asked = 0
  const server = createServer((request, response) => {
    if (issuer.isHanging) return
    if (issuer.isDown) {
      response.writeHead(503).end()
      return
    }
    const isKeys = request.url === '/keys'
    if (isKeys) asked++
    const body = isKeys
      ? { keys: keys.map(({ publicJwk }) => publicJwk) }
      : { issuer: issuer.claimedIssuer, jwks_uri: `${issuer.url}/keys` }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const issuer: OidcIssuer = {
    url,
    claimedIssuer: url,
    isHanging: false,
    isDown: false,
    keyRequests: () => asked,
    publicKeys: () => keys.map(({ publicJwk }) => publicJwk),
    sign: async (subject, { claims = {}, without = [], alg = 'RS256', key = keys.find((one) => one.alg === alg) } = {}) => {
      if (key === undefined) throw new Error(`the issuer has no key for ${alg}`)
      const now = Math.floor(Date.now() / 1000)
      const all = { iss: url, aud: AUDIENCE, sub: subject, iat: now, exp: now + 3600, ...claims }
      const payload = Object.fromEntries(Object.entries(all).filter(([name]) => !without.includes(name)))
      return new SignJWT(payload).setProtectedHeader({ alg, kid: key.kid }).sign(key.privateKey)
    },
    rotate: async () => {
      const former = keys.find(({ alg }) => alg === 'RS256')
      keys = await makeKeys()
      if (former === undefined) throw new Error('the issuer had no RSA key')
      return former
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return issuer
}

let made = 0

function makeKeys(): Promise<SigningKey[]> {
  return Promise.all(ALGORITHMS.map(makeKey))
}

/** A key that the issuer does not publish. */
export async function makeKey(alg: string): Promise<SigningKey> {
  const kid = `key-${made++}`
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}
