import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { IDENTITY_ISSUER_SETTING, readIdentityIssuer } from '@sandyard/db/identity-issuer'
import { identityKey } from '@sandyard/egress-ca/identity-key'
import { identityToken } from '@sandyard/egress-ca/identity-token'
import { Secret } from '@sandyard/kit/config/secret'
import { createWorld, type Answer, type Server, type World } from './support/control-plane.ts'

const API_URL = 'https://api.sandboxes.test'

let world: World
let api: Server
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ env: { SANDYARD_API_URL: `${API_URL}/` } })
})
afterAll(() => world[Symbol.asyncDispose]())

const read = (path: string): Promise<Answer> => api.call('GET', path, { apiKey: null })
const now = (): number => Math.floor(Date.now() / 1000)

it('verifies identity tokens with the published keys, found by the issuer, without a credential', async () => {
  const issuer = await readIdentityIssuer(world.database.db)
  expect(issuer).toBe(API_URL)
  const discovery = await read('/.well-known/openid-configuration')
  expect([discovery.status, discovery.body]).toMatchObject([200, { issuer, jwks_uri: `${API_URL}/.well-known/jwks.json` }])
  const keys = (await read(new URL(discovery.body.jwks_uri as string).pathname)).body as JSONWebKeySet
  expect(keys.keys.map((key) => Object.hasOwn(key, 'd'))).toEqual([false])
  const identity = { issuer, teamId: world.teamId, sandboxId: 'i1', audience: 'sts.amazonaws.com', now: now() }
  const sign = (seed: Secret): string => identityToken(identityKey(seed), identity).reveal()
  const token = sign(api.ctx.installation.tokenSeed)
  const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(keys), { issuer, audience: 'sts.amazonaws.com' })
  expect(protectedHeader.alg).toBe('ES256')
  expect(payload).toMatchObject({
    sub: `spiffe://api.sandboxes.test/team/${world.teamId}/sandbox/i1`,
    exp: identity.now + 300,
    jti: expect.stringMatching(/./) as string,
  })
  await expect(jwtVerify(token, createLocalJWKSet(keys), { issuer, audience: 'gcp' })).rejects.toThrow()
  await expect(jwtVerify(sign(new Secret('another')), createLocalJWKSet(keys))).rejects.toThrow()
})

it('stores the issuer of the newest start, by default below the domain', async () => {
  await using other = await world.startServer({ env: { SANDYARD_DOMAIN: 'sandboxes.test' } })
  expect(await readIdentityIssuer(world.database.db)).toBe('https://api.sandboxes.test')
  expect((await other.call('GET', '/.well-known/openid-configuration')).body.issuer).toBe('https://api.sandboxes.test')
  const rows = world.database.db.selectFrom('server_setting').where('name', '=', IDENTITY_ISSUER_SETTING).selectAll()
  expect(await rows.execute()).toHaveLength(1)
})

it('accepts five tokens of the type JWT-SVID, each with its audience', async () => {
  const create = (tokens: object): Promise<Answer> => api.call('POST', '/v2/sandboxes', { body: { templateID: 'base', iam: { tokens } } })
  const tokens = (count: number, more: object = {}): object =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`t${i}`, { audience: `a${i}`, tokenType: 'JWT-SVID', ...more }]))
  const five = await create(tokens(5))
  expect(five.status).toBe(201)
  const row = world.database.db
    .selectFrom('sandbox')
    .select('iam')
    .where('sandbox_id', '=', five.body.sandboxID as string)
  expect((await row.executeTakeFirstOrThrow()).iam).toEqual(
    Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`t${i}`, { audience: `a${i}` }])),
  )
  expect((await create(tokens(6))).body).toEqual({ code: 400, message: 'iam.tokens: too many tokens: 6 (max 5)' })
  const other = 'iam.tokens.t0.tokenType: only "JWT-SVID" is supported'
  expect((await create(tokens(1, { tokenType: 'JWT' }))).body).toEqual({ code: 400, message: other })
  expect((await create(tokens(1, { audience: 'a\0' }))).status).toBe(400)
})
