import { createHmac, createPublicKey, randomBytes, type JsonWebKey } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, waitFor, type Answer, type Server, type World } from './support/control-plane.ts'
import { AUDIENCE, makeKey, startOidcIssuer, type OidcIssuer } from './support/oidc-issuer.ts'
import { seedParty } from './support/templates.ts'

const REFUSED = { code: 401, message: 'Invalid auth provider token.\nBackend authentication failed' }
const EMAIL = 'dev@acme.test'

let world: World
let issuer: OidcIssuer
let api: Server
beforeAll(async () => {
  world = await createWorld()
  issuer = await startOidcIssuer()
  api = await startServer()
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await issuer[Symbol.asyncDispose]()
})

const startServer = (env: Record<string, string> = {}, of = issuer) =>
  world.startServer({ loops: true, env: { SANDYARD_OIDC_ISSUER: of.url, SANDYARD_OIDC_AUDIENCE: AUDIENCE, ...env } })

const call = (token: string, { server = api, url = '/teams', teamId = '' } = {}): Promise<Answer> =>
  server.call('GET', url, { apiKey: null, headers: { authorization: `Bearer ${token}`, ...(teamId !== '' && { 'x-team-id': teamId }) } })

/** For the seeded user, with an address that the provider has verified. */
const sign = (options: Parameters<OidcIssuer['sign']>[1] = {}) =>
  issuer.sign('subject-1', { ...options, claims: { email: EMAIL, email_verified: true, ...options.claims } })

const seconds = (offset: number): number => Math.floor(Date.now() / 1000) + offset
const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('tokens of the OpenID provider', () => {
  it.each(['RS256', 'PS256', 'ES256', 'EdDSA'])('are accepted when they are signed with %s', async (alg) => {
    const answer = await call(await sign({ alg }))
    expect(answer.status, answer.text).toBe(200)
    expect(answer.body).toMatchObject([{ teamID: world.teamId, isDefault: true }])
  })

  it('act for the team of X-Team-ID, of which the user must be a member', async () => {
    const token = await sign()
    const { teamId } = await seedParty(world, 'Strangers')
    for (const url of ['/v2/sandboxes', '/templates', '/api-keys']) {
      expect([url, (await call(token, { url, teamId: world.teamId })).status]).toEqual([url, 200])
      const foreign = await call(token, { url, teamId })
      expect(foreign.body).toEqual({ code: 401, message: 'Invalid auth provider token teamID.\nTeam not found' })
      expect((await call(token, { url })).body).toEqual({ code: 401, message: 'Invalid auth provider token teamID.\nInvalid team ID' })
    }
  })

  it('may make API keys, with the user as the creator', async () => {
    const headers = { authorization: `Bearer ${await sign()}`, 'x-team-id': world.teamId }
    const answer = await api.call('POST', '/api-keys', { apiKey: null, headers, body: { name: 'by sso' } })
    expect([answer.status, answer.body.createdBy]).toEqual([201, { id: world.userId, email: EMAIL }])
  })

  it.each<[string, Parameters<OidcIssuer['sign']>[1]]>([
    ['another issuer', { claims: { iss: 'https://elsewhere.test' } }],
    ['another audience', { claims: { aud: 'other' } }],
    ['no audience', { without: ['aud'] }],
    ['an end in the past', { claims: { exp: seconds(-3600) } }],
    ['no end', { without: ['exp'] }],
    ['a beginning in the future', { claims: { nbf: seconds(3600) } }],
    ['no subject', { without: ['sub'] }],
    ['an empty subject', { claims: { sub: '' } }],
    ['an unknown subject without an address', { claims: { sub: 'nobody' }, without: ['email'] }],
    ['an unknown subject with an address that is not verified', { claims: { sub: 'nobody', email_verified: false } }],
    ['an unknown subject with a verification that is text', { claims: { sub: 'nobody', email_verified: 'true' } }],
    ['an unknown subject with an unknown address', { claims: { sub: 'nobody', email: 'nobody@acme.test' } }],
    ['an unknown subject that cannot be stored', { claims: { sub: 'no\0body' } }],
    ['an unknown subject with the address of a user who has another identity', { claims: { sub: 'subject-2' } }],
  ])('are refused with %s', async (_name, options) => {
    // Its identity exists from here on.
    expect((await call(await sign())).status).toBe(200)
    expect((await call(await sign(options))).body).toEqual(REFUSED)
  })

  it('are refused with a subject or an address that no index of the database has room for', async () => {
    const { email } = await seedParty(world, 'Long')
    const long = randomBytes(3000).toString('base64url')
    const own = (claims: object) => sign({ claims: { email, ...claims } })
    expect((await call(await own({ sub: long }))).body).toEqual(REFUSED)
    expect((await call(await own({ sub: 'of-long', email: `${long}@party.test` }))).body).toEqual(REFUSED)
    await using open = await startServer({ SANDYARD_OIDC_CREATE_USERS: 'true' })
    expect((await call(await own({ sub: 'of-long', email: `${long}@party.test` }), { server: open })).body).toEqual(REFUSED)
    expect((await call(await own({ sub: 'o'.repeat(255) }))).status).toBe(200)
  })

  it('find a user whose address is written in another case', async () => {
    const { teamId, email } = await seedParty(world, 'Cased')
    const answer = await call(await issuer.sign('cased', { claims: { email: email.toUpperCase(), email_verified: true } }))
    expect(answer.body).toMatchObject([{ teamID: teamId }])
  })

  it('are accepted within the skew of clocks', async () => {
    expect((await call(await sign({ claims: { exp: seconds(-5), nbf: seconds(5) } }))).status).toBe(200)
  })

  it('are refused without a signature, with that of another key, and with one that was made from the public key', async () => {
    const [, payload = '', signature = ''] = (await sign()).split('.')
    const stranger = await sign({ key: await makeKey('RS256') })
    const [jwk] = issuer.publicKeys()
    const { kid } = jwk ?? {}
    const header = base64({ alg: 'HS256', kid })
    const pem = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' })
      .export({ type: 'spki', format: 'pem' })
      .toString()
    const mac = createHmac('sha256', pem).update(`${header}.${payload}`).digest('base64url')
    const forged = base64({ ...(JSON.parse(Buffer.from(payload, 'base64url').toString()) as object), sub: 'other' })
    for (const token of [
      `${base64({ alg: 'none' })}.${payload}.`,
      `${base64({ alg: 'none', kid })}.${payload}.${signature}`,
      `${header}.${payload}.${mac}`,
      `${base64({ alg: 'RS256', kid })}.${forged}.${signature}`,
      stranger,
      'a.b.c',
    ]) {
      expect((await call(token)).body).toEqual(REFUSED)
    }
    expect((await call(await sign())).status).toBe(200)
  })

  it('are refused at once when their user is deleted', async () => {
    const { userId, email, teamId } = await seedParty(world, 'Leavers')
    const token = await issuer.sign('leaver', { claims: { email, email_verified: true } })
    expect((await call(token, { url: '/v2/sandboxes', teamId })).status).toBe(200)
    await world.database.db.deleteFrom('app_user').where('id', '=', userId).execute()
    await waitFor('the refusal', async () => (await call(token)).status === 401)
  })

  it('of an unknown user make no team with the namespace that stands for the templates of the server', async () => {
    await using open = await startServer({ SANDYARD_OIDC_CREATE_USERS: 'true' })
    const token = await sign({ claims: { sub: 'e2bdev', email: 'e2bdev@acme.test' } })
    const { body } = await call(token, { server: open })
    const { slug } = await world.database.db.selectFrom('team').select('slug').where('id', '=', body[0].teamID).executeTakeFirstOrThrow()
    expect(slug).toMatch(/^e2bdev-[0-9a-f]{4}$/)
  })

  it('of an unknown user make one user with a team of its own, where the operator has allowed it', async () => {
    await seedParty(world, 'new.person')
    const open = await startServer({ SANDYARD_OIDC_CREATE_USERS: 'true' })
    const email = 'newperson@acme.test'
    const tokens = await Promise.all([1, 2, 3].map((n) => issuer.sign('new', { claims: { email, email_verified: true, jti: String(n) } })))
    const answers = await Promise.all(tokens.map((token) => call(token, { server: open })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(new Set(answers.map(({ body }) => body[0].teamID)).size).toBe(1)
    expect(answers[0]?.body).toMatchObject([{ name: email, isDefault: true }])
    const unverified = await issuer.sign('newer', { claims: { email: 'newer@acme.test', email_verified: false } })
    expect((await call(unverified, { server: open })).body).toEqual(REFUSED)
    const users = await world.database.db.selectFrom('app_user').select('email').where('email', 'in', [email, 'newer@acme.test']).execute()
    expect(users).toEqual([{ email }])
  })

  it('count against the limit of refused credentials', async () => {
    const limited = await startServer({ SANDYARD_FAILED_AUTH_LIMIT: '1/3600:2' })
    const statuses: number[] = []
    for (let n = 0; n < 4; n++) {
      const token = await sign({ claims: { aud: 'other', jti: String(n) } })
      statuses.push((await call(token, { server: limited })).status)
    }
    expect(statuses).toEqual([401, 401, 429, 429])
  })
})

describe('the keys of the OpenID provider', () => {
  it('are read again for an unknown one, not at every token, and a replaced one is refused', async () => {
    await using turning = await startOidcIssuer()
    const server = await startServer({}, turning)
    const claims = { email: EMAIL, email_verified: true }
    const { userId, email } = await seedParty(world, 'Turners')
    const of = (options: object = {}) => turning.sign('turner', { claims: { ...claims, email }, ...options })
    expect((await call(await of(), { server })).status).toBe(200)
    const former = await turning.rotate()
    expect((await call(await of({ claims: { ...claims, email, jti: 'second' } }), { server })).status).toBe(200)
    expect((await call(await of({ key: former, claims: { ...claims, email, jti: 'third' } }), { server })).body).toEqual(REFUSED)
    const asked = turning.keyRequests()
    for (let n = 0; n < 5; n++) {
      expect((await call(await of({ key: await makeKey('ES256'), alg: 'ES256' }), { server })).body).toEqual(REFUSED)
    }
    expect(turning.keyRequests()).toBe(asked)
    const identities = await world.database.db.selectFrom('user_identity').select('subject').where('user_id', '=', userId).execute()
    expect(identities).toEqual([{ subject: 'turner' }])
  })

  it('are kept while the provider is down', async () => {
    await using failing = await startOidcIssuer()
    const server = await startServer({}, failing)
    const { email } = await seedParty(world, 'Waiters')
    const of = (jti: string) => failing.sign('waiter', { claims: { email, email_verified: true, jti } })
    expect((await call(await of('1'), { server })).status).toBe(200)
    failing.isDown = true
    const stranger = await failing.sign('waiter', { key: await makeKey('RS256') })
    expect((await call(stranger, { server })).body).toEqual(REFUSED)
    expect((await call(await of('2'), { server })).status).toBe(200)
  })

  it('of a provider that hangs delay no API key', async () => {
    await using hanging = await startOidcIssuer()
    hanging.isHanging = true
    const server = await startServer({}, hanging)
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, n) => hanging.sign(`h${n}`)))
    let answered = 0
    const waiting = tokens.map((token) => call(token, { server }).finally(() => answered++))
    const keys = await server.call('GET', '/v2/sandboxes')
    expect([keys.status, answered]).toEqual([200, 0])
    for (const { body } of await Promise.all(waiting)) expect(body).toEqual(REFUSED)
  })

  it('of a provider that names another issuer are not used, and the server serves its own credentials', async () => {
    await using lying = await startOidcIssuer()
    lying.claimedIssuer = 'https://elsewhere.test'
    const server = await startServer({}, lying)
    const token = await lying.sign('liar', { claims: { email: EMAIL, email_verified: true } })
    expect((await call(token, { server })).body).toEqual(REFUSED)
    expect((await call(world.credentials.accessToken, { server })).status).toBe(200)
  })
})
