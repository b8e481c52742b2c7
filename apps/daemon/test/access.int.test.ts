import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FileAccess, fileSignature } from '../src/files/file-signature.ts'
import { asUser, startDaemon, type TestDaemon } from './support/test-daemon.ts'

const TOKEN = '0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0'
const UNAUTHORIZED = 'unauthorized access, please provide a valid access token or method signing if supported'
const ORIGIN = { origin: 'https://a.example' }
let daemon: TestDaemon
let directory: string
let path: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'access-'))
  path = join(directory, 'f')
  await writeFile(path, 'content')
  daemon = await startDaemon()
})
afterAll(async () => {
  await daemon[Symbol.asyncDispose]()
  await rm(directory, { recursive: true })
})

async function init(body: object, headers: Record<string, string> = {}): Promise<[number, string]> {
  const answer = await fetch(`${daemon.url}/init`, { method: 'POST', headers, body: JSON.stringify(body) })
  return [answer.status, await answer.text()]
}

async function ask(
  target: string,
  init: { method?: string; body?: string; headers?: Record<string, string> } = {},
): Promise<[number, string]> {
  const answer = await fetch(daemon.url + target, { ...init, headers: { ...ORIGIN, ...init.headers } })
  // Scripts of any page may read refusals too.
  expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  return [answer.status, await answer.text()]
}

function refused(message: string): [number, string] {
  return [401, `${JSON.stringify({ code: 401, message })}\n`]
}

/** The query of a signed URL as clients send it. */
function signed(expiration?: bigint, change: Partial<FileAccess> = {}): string {
  const access = { operation: 'read', path, username: undefined, expiration, ...change } as const
  return new URLSearchParams({ path, signature: fileSignature(access, TOKEN) }).toString()
}

describe('without a token', () => {
  it.each(['', '&signature=garbage', '&signature=&signature_expiration=1'])(
    '[daemon GET /files] ignores the signature "%s" (envd.md 18.7)',
    async (extra) => expect(await ask(`/files?path=${path}${extra}`)).toEqual([200, 'content']),
  )

  it.each([
    ['signature_expiration=soon', 'signature_expiration'],
    ['signature_expiration=1.5', 'signature_expiration'],
    ['signature_expiration=', 'signature_expiration'],
    ['signature_expiration=9223372036854775808', 'signature_expiration'],
    ['signature_expiration=1&signature_expiration=1', 'signature_expiration'],
    ['signature=a&signature=a', 'signature'],
  ])('[daemon GET /files] refuses %s in plain text', async (query, name) => {
    const [status, body] = await ask(`/files?path=${path}&${query}`)
    expect([status, body]).toEqual([400, expect.stringMatching(`^Invalid format for parameter ${name}: `)])
  })
})

/** Sends raw lines and returns the status. */
async function askRaw(lines: readonly string[]): Promise<string> {
  const socket = connect(Number(new URL(daemon.url).port), '127.0.0.1')
  socket.write(`${[...lines, 'Host: x', 'Connection: close'].join('\r\n')}\r\n\r\n`)
  return (await text(socket)).slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)
}

describe('with a token', () => {
  const token = { 'x-access-token': TOKEN }
  const now = (): bigint => BigInt(Math.floor(Date.now() / 1000))

  beforeAll(async () => {
    expect(await init({ accessToken: TOKEN })).toEqual([204, ''])
  })

  it.each([
    ['GET', '/health', 204],
    ['POST', '/init', 401, 'access token reset not authorized'],
    ['GET', '/files?path=/', 401, 'missing signature query parameter'],
    ['POST', '/files?path=/', 401, 'missing signature query parameter'],
    ['HEAD', '/files'],
    ['PUT', '/files'],
    ['GET', '/files/'],
    ['GET', '//files'],
    ['GET', '/FILES'],
    ['POST', '/health'],
    ['GET', '/health/'],
    ['GET', '/init'],
    ['POST', '//init'],
    ['POST', '/%69nit', 404],
    ['GET', '/envs'],
    ['GET', '/metrics'],
    ['POST', '/files/compose'],
    ['POST', '/freeze'],
    ['POST', '/unfreeze'],
    ['POST', '/collapse'],
    ['POST', '/fsfreeze'],
    ['POST', '/fsthaw'],
    ['POST', '/upgrade'],
    ['GET', '/nope'],
    ['POST', '/filesystem.Filesystem/Stat'],
    ['POST', '/process.Process/List'],
    ['POST', '/process.Process/Start'],
  ])('%s %s without the token gets the status of the route matrix', async (method, target, status = 401, message = UNAUTHORIZED) => {
    const [answered, body] = await ask(target, { method })
    expect(answered).toBe(status)
    if (status === 401 && method !== 'HEAD') expect(body).toContain(message)
  })

  it('[daemon GET /files] [daemon POST /files] the token header decides, whatever the signature is (envd.md 18.4)', async () => {
    const wrong = { 'x-access-token': `${TOKEN}0` }
    for (const headers of [wrong, { 'x-access-token': TOKEN.slice(1) }, { 'x-access-token': TOKEN.toUpperCase() }]) {
      expect(await ask(`/files?${signed()}`, { headers })).toEqual(refused('access token present in header but does not match'))
    }
    expect(await ask(`/files?path=${path}&signature=garbage`, { headers: token })).toEqual([200, 'content'])
    expect(await ask(`/files?${signed()}`, { headers: { 'x-access-token': '' } })).toEqual([200, 'content'])
    expect((await ask(`/files?${signed()}`, { method: 'POST', body: 'x' }))[0]).toBe(401)
  })

  it('[daemon GET /files] checks the signature over the path and user exactly as sent (envd.md 18.5)', async () => {
    expect(await ask(`/files?${signed()}`)).toEqual([200, 'content'])
    expect(await ask(`/files?${signed()}&username=`)).toEqual(refused("error looking up user '': user: unknown user "))
    expect(await ask(`/files?${signed(undefined, { username: 'root' })}&username=root`)).toEqual([200, 'content'])
    const invalid = refused('invalid signature')
    expect(await ask(`/files?${signed()}&username=root`)).toEqual(invalid)
    expect(await ask(`/files?${signed(undefined, { path: `${directory}/./f` })}`)).toEqual(invalid)
    expect(await ask(`/files?${signed(undefined, { operation: 'write' })}`)).toEqual(invalid)
    expect(await ask(`/files?${signed()}%3D`)).toEqual(invalid)
    expect(await ask(`/files?${signed().replace('v1_', '')}`)).toEqual(invalid)
    expect(await ask(`/files?path=${path}&signature=`)).toEqual(invalid)
  })

  it('[daemon GET /files] checks the expiration last, and only a signed one (envd.md 18.6)', async () => {
    const at = (expiration: bigint, sent = String(expiration)): Promise<[number, string]> =>
      ask(`/files?${signed(expiration)}&signature_expiration=${encodeURIComponent(sent)}`)
    const soon = now() + 600n
    expect(await at(soon)).toEqual([200, 'content'])
    expect(await at(soon, `+${soon}`)).toEqual([200, 'content'])
    expect(await at(soon, `000${soon}`)).toEqual([200, 'content'])
    expect(await at(9_223_372_036_854_775_807n)).toEqual([200, 'content'])
    for (const past of [now() - 2n, 0n, -1n, -9_223_372_036_854_775_808n])
      expect(await at(past)).toEqual(refused('signature is already expired'))
    expect(await at(soon, String(soon + 1n))).toEqual(refused('invalid signature'))
    expect(await ask(`/files?${signed()}&signature_expiration=1`)).toEqual(refused('invalid signature'))
    expect(await ask(`/files?${signed(soon)}`)).toEqual(refused('invalid signature'))
    expect((await at(9_223_372_036_854_775_808n))[0]).toBe(400)
  })

  it('the first of repeated token headers counts, and absolute targets follow the same rules', async () => {
    const [good, bad] = [`X-Access-Token: ${TOKEN}`, 'X-Access-Token: bad']
    expect(await askRaw(['GET /envs HTTP/1.1', good, bad])).toBe('200')
    expect(await askRaw(['GET /envs HTTP/1.1', bad, good])).toBe('401')
    expect(await askRaw([`GET /files?path=${path} HTTP/1.1`, good, bad])).toBe('200')
    expect(await askRaw([`GET /files?path=${path} HTTP/1.1`, bad, good])).toBe('401')
    expect(await askRaw(['GET http://x/health HTTP/1.1'])).toBe('204')
    expect(await askRaw(['GET http://x/envs HTTP/1.1'])).toBe('401')
    expect(await askRaw([`GET http://x/files?${signed()} HTTP/1.1`])).toBe('200')
  })

  it('[daemon POST /init] takes the token from the body, not from the header (envd.md 18.10)', async () => {
    expect(await init({}, token)).toEqual([401, 'access token reset not authorized'])
    expect(await init({ accessToken: 'other' }, token)).toEqual([401, 'access token validation failed'])
    expect(await init({ accessToken: TOKEN }, { 'x-access-token': 'other' })).toEqual([204, ''])
  })
})

describe('the system user', () => {
  it('[filesystem.Filesystem/ListDir] may access every file: the daemon works as root (envd.md 18.32)', async () => {
    await using open = await startDaemon()
    const closed = join(directory, 'closed')
    await mkdir(closed, { mode: 0o700 })
    await writeFile(join(closed, 'f'), '', { mode: 0o600 })
    const names = async (): Promise<string[]> => {
      const { entries } = await open.filesystem.listDir({ path: closed }, asUser('nobody'))
      return entries.map(({ name }) => name)
    }
    expect(await names()).toEqual(['f'])
    await open.filesystem.stat({ path: join(closed, 'f') }, asUser('nobody'))
    await open.filesystem.makeDir({ path: join(closed, 'd') }, asUser('nobody'))
    await open.filesystem.move({ source: join(closed, 'f'), destination: join(closed, 'd/f') }, asUser('nobody'))
    expect(await names()).toEqual(['d'])
    await open.filesystem.remove({ path: join(closed, 'd') }, asUser('nobody'))
    expect(await names()).toEqual([])
  })
})
