import { createPublicKey, randomBytes, verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createHttpServer, request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IDENTITY_ISSUER_SETTING } from '@sandyard/db/identity-issuer'
import { secretPlace } from '@sandyard/db/rows/secret-place'
import type { StoredIdentityToken } from '@sandyard/db/schema/sandbox'
import { identityKey } from '@sandyard/egress-ca/identity-key'
import { sandboxAuthority } from '@sandyard/egress-ca/sandbox-authority'
import { Secret } from '@sandyard/kit/config/secret'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { createLogger } from '@sandyard/kit/logging/create-logger'
import { KeyRing } from '@sandyard/kit/secrets/key-ring'
import { readAll, readUntil, secure } from './support/sandbox-client.ts'
import { listenOnPort, SEED, startEgress, worldCertificate, type TestEgress } from './support/start-egress.ts'

const NAME = 'api.example.com'
const ORIGIN = '127.1.0.1'
const ISSUER = 'https://api.sandboxes.test'
const [KEY, OTHER_KEY] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')]
const VALUE = 'value-of-the-secret'

let egress: TestEgress
let teamId = ''
let count = 0
let logged = ''
const closing = new AsyncDisposableStack()
const seen: (readonly string[])[] = []
/** Keeps a request without an answer. */
let holds: ((socket: Socket) => void) | undefined

beforeAll(async () => {
  const stream = new PassThrough()
  stream.on('data', (chunk: Buffer) => (logged += chunk.toString()))
  const log = createLogger({ name: 'test', level: 'trace', destination: stream })
  egress = closing.use(await startEgress({ environment: { SANDYARD_SECRETS_KEY: KEY }, log }))
  const { db } = egress.database
  await db.insertInto('server_setting').values({ name: IDENTITY_ISSUER_SETTING, value: ISSUER }).execute()
  teamId = (await db.selectFrom('team').select('id').executeTakeFirstOrThrow()).id
  const serve: RequestListener = (req, res) => {
    seen.push(req.rawHeaders)
    if (holds === undefined) res.end('served')
    else holds(req.socket)
  }
  const https = createHttpsServer({ ...worldCertificate(NAME), maxHeaderSize: 1024 ** 2 }, serve)
  https.on('upgrade', (req: IncomingMessage, socket: Socket) => {
    seen.push(req.rawHeaders)
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  })
  closing.use(await listenOnPort(https, egress.tlsPort))
  closing.use(await listenOnPort(createHttpServer(serve), egress.httpPort))
  egress.dns.zone.set(NAME, [ORIGIN])
})
afterAll(() => closing[Symbol.asyncDispose]())

/** Stores a version of a secret as the control plane does. */
async function store(name: string, value: string, { version = 1, key = KEY, team = teamId } = {}): Promise<void> {
  const secret_id = `sec_${name}`
  const { keyId, sealed } = new KeyRing([new Secret(key)]).seal(secretPlace(secret_id, version), value)
  await egress.database.transaction(async (tx) => {
    await tx
      .insertInto('secret')
      .values({ secret_id, team_id: team, name, current_version: version })
      .onConflict((conflict) => conflict.column('secret_id').doUpdateSet({ current_version: version }))
      .execute()
    await tx.insertInto('secret_version').values({ secret_id, version, sealed, key_id: keyId }).execute()
  })
}

interface Sandbox {
  readonly id: string
  readonly address: string
}

const rulesOf = (value: string) => ({ rules: { [NAME]: { headers: { Authorization: value } } } })

/** A sandbox whose rule sets one header. */
async function sandbox(value: string, iam: Readonly<Record<string, StoredIdentityToken>> = {}): Promise<Sandbox> {
  count += 1
  const [id, address] = [`inj${count}`, `127.9.7.${count}`]
  await egress.addSandbox(id, address, rulesOf(value), { iam: JSON.stringify(iam) })
  return { id, address }
}

async function overTls({ id, address }: Sandbox): Promise<TLSSocket> {
  const socket = await egress.dial(address, { address: ORIGIN, port: egress.tlsPort })
  return secure(socket, { servername: NAME, ca: sandboxAuthority(SEED, id).certificatePem })
}

interface Got {
  readonly status: number
  readonly answer: string
  /** What the server has got; undefined when it got no request. */
  readonly authorization: string | undefined
}

async function send(socket: Socket): Promise<Got> {
  seen.length = 0
  const req = httpRequest({ createConnection: () => socket, headers: { Host: NAME, Authorization: 'mine', Connection: 'close' } }).end()
  const [res] = (await once(req, 'response')) as [IncomingMessage]
  const answer = await text(res)
  const headers = seen.at(-1)
  const at = headers?.findIndex((name) => name.toLowerCase() === 'authorization') ?? -1
  return { status: res.statusCode ?? 0, answer, authorization: headers?.[at + 1] }
}

const until = (isSo: () => Promise<boolean>): Promise<boolean> =>
  pollUntil({ what: 'the change', timeoutMs: 30_000, everyMs: 20 }, async () => ((await isSo()) ? true : undefined))
const ask = async (from: Sandbox): Promise<Got> => send(await overTls(from))
/** Undefined when the update of the network has ended the connection, as it ends those that the former rules served. */
const askDuringUpdate = (from: Sandbox): Promise<Got | undefined> =>
  ask(from).catch((err: NodeJS.ErrnoException) => {
    if (err.code === 'ECONNRESET' || err.code === 'EPIPE' || err.message === 'closed without an answer') return undefined
    throw err
  })
const served = (authorization: string): Got => ({ status: 200, answer: 'served', authorization })
const REFUSED: Got = { status: 502, answer: 'A value that a network rule needs is missing.\n', authorization: undefined }

describe('a placeholder of a secret', () => {
  it('is replaced by the value, in mixed text and in any case of its name', async () => {
    await store('key_1', VALUE)
    await store('key_2', 'zwei ä')
    expect(await ask(await sandbox('Bearer ${e2b.secrets.KEY_1}'))).toEqual(served(`Bearer ${VALUE}`))
    const both = await ask(await sandbox('${e2b.secrets.key_1}:${e2b.secrets.key_2}'))
    expect(both.authorization).toBe(`${VALUE}:${Buffer.from('zwei ä').toString('latin1')}`)
  })

  it('is replaced by the newest version at each request, and by none after the secret was deleted', async () => {
    await store('moving', 'one')
    const own = await sandbox('${e2b.secrets.moving}')
    expect(await ask(own)).toEqual(served('one'))
    await store('moving', 'two', { version: 2 })
    await until(async () => (await ask(own)).authorization === 'two')
    await egress.database.db.deleteFrom('secret').where('name', '=', 'moving').execute()
    await until(async () => (await ask(own)).status === 502)
    expect(await ask(own)).toEqual(REFUSED)
  })

  it('follows an update of the network', async () => {
    await store('later', 'later value')
    const own = await sandbox('${e2b.secrets.absent}')
    expect(await ask(own)).toEqual(REFUSED)
    await egress.setPolicy(own.id, rulesOf('${e2b.secrets.later}'))
    await until(async () => (await askDuringUpdate(own))?.authorization === 'later value')
  })

  it('is replaced in a WebSocket handshake', async () => {
    await store('socket', VALUE)
    const socket = await overTls(await sandbox('${e2b.secrets.socket}'))
    seen.length = 0
    const head = ['GET / HTTP/1.1', `Host: ${NAME}`, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: YQ==', '', '']
    socket.write(head.join('\r\n'))
    await readUntil(socket, '101 Switching Protocols')
    expect(seen.flat()).toContain(VALUE)
    socket.destroy()
    const refused = await overTls(await sandbox('${e2b.secrets.absent}'))
    seen.length = 0
    refused.write(head.join('\r\n'))
    expect(await readAll(refused)).toBe('')
    expect(seen).toEqual([])
  })
})

describe('a request is refused and never sent', () => {
  it.each<[string, string]>([
    ['a secret that does not exist', '${e2b.secrets.nothing}'],
    ['one of several that does not exist', '${e2b.secrets.there} ${e2b.secrets.nothing}'],
    ['a secret of another team', '${e2b.secrets.theirs}'],
    ['a secret of another key', '${e2b.secrets.locked}'],
    ['a value that would end the header', '${e2b.secrets.split}'],
    ['a token that is not declared', '${e2b.identity.tokens.undeclared}'],
    ['a malformed placeholder', '${e2b.secrets.'],
    ['values that are together too long for a header', '${e2b.secrets.long}'.repeat(3)],
  ])('for %s', async (_, value) => {
    const { db } = egress.database
    const exists = await db.selectFrom('secret').where('name', '=', 'theirs').select('secret_id').executeTakeFirst()
    if (exists === undefined) {
      const { id } = await db.insertInto('team').values({ name: 'o', slug: 'o', email: 'o@x' }).returning('id').executeTakeFirstOrThrow()
      await store('there', VALUE)
      await store('theirs', VALUE, { team: id })
      await store('locked', VALUE, { key: OTHER_KEY })
      await store('long', 'x'.repeat(40_000))
      await store('split', `${VALUE}\r\nX-More: 1`)
    }
    const own = await sandbox(value)
    expect(await ask(own)).toEqual(REFUSED)
    expect(await egress.metric('sandyard_egress_connections_total', { verdict: 'deny', rule: 'missing_secret' })).toBeGreaterThan(0)
    const control = await sandbox('${e2b.secrets.there}')
    expect(await ask(control)).toEqual(served(VALUE))
  })

  it('without encryption', async () => {
    await store('plain', VALUE)
    const own = await sandbox('${e2b.secrets.plain}', { t: { audience: 'a' } })
    const overHttp = async (): Promise<Got> => send(await egress.dial(own.address, { address: ORIGIN, port: egress.httpPort }))
    expect(await overHttp()).toEqual(REFUSED)
    await egress.setPolicy(own.id, rulesOf('${e2b.identity.tokens.t}'))
    expect(await overHttp()).toEqual(REFUSED)
    await egress.setPolicy(own.id, rulesOf('no placeholder'))
    await until(async () => (await overHttp()).authorization === 'no placeholder')
  })
})

it('keeps the values in requests under way below a cap of the sandbox, and frees them with the requests', async () => {
  await store('heavy', 'x'.repeat(60_000))
  const [own, other] = [await sandbox('${e2b.secrets.heavy}'), await sandbox('${e2b.secrets.heavy}')]
  await egress.setPolicy(own.id, {
    rules: { [NAME]: { headers: Object.fromEntries(['A', 'B', 'C', 'D'].map((name) => [`X-${name}`, '${e2b.secrets.heavy}'])) } },
  })
  const held: Socket[] = []
  holds = (socket) => held.push(socket)
  try {
    // 240,000 characters each: 17 of them are below four mebibytes.
    const sends = Array.from({ length: 24 }, async () => send(await overTls(own)))
    const results = sends.map((sent) => sent.catch(() => undefined))
    await until(async () => held.length === 17)
    await until(async () => (await egress.metric('sandyard_egress_connections_total', { verdict: 'deny', rule: 'too_many_values' })) === 7)
    // Another sandbox of the team is served.
    holds = undefined
    expect((await ask(other)).status).toBe(200)
    for (const socket of held) socket.destroy()
    const answers = (await Promise.all(results)).flatMap((got) => (got?.status === 502 ? [got.answer] : []))
    expect(answers.filter((answer) => answer.startsWith('Requests with long values'))).toHaveLength(7)
    expect((await ask(own)).status).toBe(200)
  } finally {
    holds = undefined
  }
})

describe('a placeholder of an identity token', () => {
  const readToken = (token = ''): { header: Record<string, unknown>; claims: Record<string, unknown>; isValid: boolean } => {
    const [header = '', claims = '', signature = ''] = token.split('.')
    const { jwk } = identityKey(SEED)
    const key = createPublicKey({ key: { ...jwk }, format: 'jwk' })
    const parse = (part: string): Record<string, unknown> =>
      JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
    return {
      header: parse(header),
      claims: parse(claims),
      isValid: verify(
        'sha256',
        Buffer.from(`${header}.${claims}`),
        { key, dsaEncoding: 'ieee-p1363' },
        Buffer.from(signature, 'base64url'),
      ),
    }
  }

  it('is replaced by a JWT for its audience, which names the sandbox', async () => {
    const own = await sandbox('${e2b.identity.tokens.aws}', { aws: { audience: 'sts.amazonaws.com' }, gcp: { audience: 'gcp' } })
    const { header, claims, isValid } = readToken((await ask(own)).authorization)
    expect([isValid, header['alg'], header['kid']]).toEqual([true, 'ES256', identityKey(SEED).jwk.kid])
    expect(claims).toMatchObject({
      iss: ISSUER,
      sub: `spiffe://api.sandboxes.test/team/${teamId}/sandbox/${own.id}`,
      aud: ['sts.amazonaws.com'],
      exp: (claims['iat'] as number) + 300,
    })
    await egress.setPolicy(own.id, rulesOf('Bearer ${e2b.identity.tokens.gcp}'))
    await until(async () => (await askDuringUpdate(own))?.authorization?.startsWith('Bearer ') === true)
    expect(readToken((await ask(own)).authorization?.slice(7)).claims['aud']).toEqual(['gcp'])
    const other = await sandbox('${e2b.identity.tokens.aws}', { aws: { audience: 'sts.amazonaws.com' } })
    expect(readToken((await ask(other)).authorization).claims['sub']).toContain(other.id)
  })
})

it('keeps values out of the log', () => {
  expect(logged).toContain('no key of this gateway opens a secret')
  expect(logged).not.toContain(VALUE)
})
