import { loadOnce } from '@sandyard/kit/async/load-once'
import type { ApiRoute } from '../../http/api-instance.ts'
import { issuerOf } from '../issuer.ts'

/** Verifiers keep what they have read for this long. The key never changes. */
const CACHE = 'public, max-age=3600'
const KEYS = '/.well-known/jwks.json'

/** What verifiers of identity tokens read, without a credential (OpenID Connect Discovery 1.0, RFC 7517). Operations of ours. */
export const identityKeysRoutes: ApiRoute = (app, ctx) => {
  const issuer = issuerOf(ctx.config)
  const readKeys = loadOnce(async () => {
    const { identityKey } = await import('@sandyard/egress-ca/identity-key')
    return { keys: [identityKey(ctx.installation.tokenSeed).jwk] }
  })
  const discovery = {
    issuer,
    jwks_uri: `${issuer}${KEYS}`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    claims_supported: ['iss', 'sub', 'aud', 'iat', 'nbf', 'exp', 'jti'],
  }
  const schema = { hide: true }
  app.get('/.well-known/openid-configuration', { schema }, (_, reply) => reply.header('cache-control', CACHE).send(discovery))
  app.get(KEYS, { schema }, async (_, reply) => reply.header('cache-control', CACHE).send(await readKeys()))
}
