import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startManagedDaemon } from './support/managed-daemon.ts'
import { startDaemon, type TestDaemon } from './support/test-daemon.ts'

const TOKEN = '0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0'
const UNAUTHORIZED = 'unauthorized access, please provide a valid access token or method signing if supported'
let daemon: TestDaemon

beforeAll(async () => {
  daemon = await startDaemon()
})
afterAll(() => daemon[Symbol.asyncDispose]())

const ask = (path: string, init: RequestInit = {}, of = daemon) => fetch(of.url + path, init)

describe('routes', () => {
  it('/health returns an empty 204 with Cache-Control: no-store', async () => {
    const response = await ask('/health')
    expect([response.status, await response.text(), response.headers.get('cache-control')]).toEqual([204, '', 'no-store'])
  })

  it.each(['/', '/nope', '/health/', '/files/', '/%68ealth', '/process.Process/Nope', '/process%2EProcess/List', '/nope.Nope/List'])(
    '%s returns 404',
    async (path) => {
      const response = await ask(path, { method: 'POST' })
      expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
        404,
        'text/plain; charset=utf-8',
        '404 page not found\n',
      ])
    },
  )

  it.each([
    ['HEAD', '/health', 'GET'],
    ['POST', '/envs', 'GET'],
    ['OPTIONS', '/init', 'POST'],
    ['PUT', '/files', 'GET, POST'],
    ['GET', '/process.Process/List', 'POST'],
    ['OPTIONS', '/filesystem.Filesystem/WatchDir', 'POST'],
  ])('%s %s returns 405', async (method, path, allow) => {
    const response = await ask(path, { method })
    expect([response.status, response.headers.get('allow'), await response.text()]).toEqual([405, allow, ''])
  })

  it('control routes succeed without an effect and report zero changes', async () => {
    const statuses = ['/freeze', '/unfreeze', '/fsfreeze', '/fsthaw'].map(async (path) => (await ask(path, { method: 'POST' })).status)
    expect(await Promise.all(statuses)).toEqual([204, 204, 204, 204])
    expect(await (await ask('/freeze?maxWaitMs=10', { method: 'POST' })).json()).toMatchObject({
      mode: 'legacy',
      visited: 0,
      unobservable: 2,
    })
    expect(await (await ask('/collapse', { method: 'POST' })).json()).toMatchObject({ regions: 0 })
  })

  it.each([
    'GET /%zz HTTP/1.1\r\nHost: x',
    'GET /health HTTP/1.1',
    'POST /process.Process/List HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 2',
  ])('an odd request gets a 400: %j', async (head) => {
    const socket = connect(Number(new URL(daemon.url).port), '127.0.0.1')
    socket.end(`${head}\r\nConnection: close\r\n\r\n{}`)
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /)
  })
})

describe('pages of other origins', () => {
  it('may send a preflight without a token for any path (envd.md 18.9)', async () => {
    await using secured = await startDaemon()
    await ask('/init', { method: 'POST', body: JSON.stringify({ accessToken: TOKEN }) }, secured)
    const headers = { origin: 'https://a.example', 'access-control-request-method': 'POST', 'access-control-request-headers': 'a, b' }
    const response = await ask('/nope', { method: 'OPTIONS', headers }, secured)
    expect(response.status).toBe(204)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'a, b',
      'access-control-max-age': '7200',
      vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
    })
  })

  it('get no CORS headers for a method that is not allowed', async () => {
    const headers = { origin: 'https://a.example', 'access-control-request-method': 'FOO' }
    const response = await ask('/health', { method: 'OPTIONS', headers })
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([204, null])
  })

  it.each([
    ['/health', 'GET'],
    ['/nope', 'GET'],
    ['/envs', 'DELETE'],
    ['/process.Process/List', 'POST'],
    ['/process.Process/Update', 'POST'],
    ['/process.Process/Connect', 'POST'],
  ])('may read the answer of %s', async (path, method) => {
    const headers = { origin: 'https://a.example', 'content-type': 'application/json', 'connect-protocol-version': '1' }
    const response = await ask(path, { method, headers, ...(method === 'POST' ? { body: '{}' } : {}) })
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': expect.stringContaining('Grpc-Status, Grpc-Message') as string,
      vary: 'Origin',
    })
    expect((await ask(path, { method })).headers.get('access-control-allow-origin')).toBe(null)
  })
})

describe('the access token', () => {
  it('is required on every route except the public ones', async () => {
    await using secured = await startDaemon()
    await ask('/init', { method: 'POST', body: JSON.stringify({ accessToken: TOKEN }) }, secured)
    const refused = [
      ['GET', '/envs'],
      ['GET', '/nope'],
      ['POST', '/freeze'],
      ['POST', '/files/compose'],
      ['POST', '/process.Process/List'],
      ['HEAD', '/files'],
    ] as const
    for (const [method, path] of refused) {
      for (const headers of [{}, { 'x-access-token': '' }, { 'x-access-token': `${TOKEN}x` }]) {
        const response = await ask(path, { method, headers }, secured)
        expect([response.status, response.headers.get('content-type')], path).toEqual([401, 'application/json; charset=utf-8'])
        if (method !== 'HEAD') expect(await response.text()).toBe(`${JSON.stringify({ code: 401, message: UNAUTHORIZED })}\n`)
      }
    }
    expect((await ask('/health', {}, secured)).status).toBe(204)
    expect((await ask('/envs', { headers: { 'x-access-token': TOKEN } }, secured)).status).toBe(200)
  })

  it('a missing token on streams and calls gets a plain HTTP 401 with a numeric code (envd.md 18.1)', async () => {
    await using secured = await startDaemon()
    await ask('/init', { method: 'POST', body: JSON.stringify({ accessToken: TOKEN }) }, secured)
    for (const [path, type] of [
      ['/process.Process/Start', 'application/connect+json'],
      ['/process.Process/List', 'application/json'],
    ] as const) {
      const headers = { 'content-type': type, 'connect-protocol-version': '1', origin: 'https://a.example' }
      const response = await ask(path, { method: 'POST', headers, body: '' }, secured)
      expect([response.status, await response.json()]).toEqual([401, { code: 401, message: UNAUTHORIZED }])
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
    }
  })

  it('a managed daemon answers 401 until it has received its identity', async () => {
    await using managed = await startManagedDaemon()
    expect((await ask('/health', {}, managed)).status).toBe(204)
    const response = await ask('/envs', {}, managed)
    expect([response.status, await response.json()]).toEqual([401, { code: 401, message: 'envd not initialized' }])
  })
})

describe('the system user', () => {
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })

  it.each([['root:'], ['root:any password'], ['no colon'], ['']])('%j is accepted or ignored (envd.md 18.3)', async (credentials) => {
    expect((await ask('/health', { headers: basic(credentials) })).status).toBe(204)
  })

  it.each(['Bearer x', 'Basic', 'Basic !!!', 'Basic cm9v*'])('the header %j is ignored', async (authorization) => {
    expect((await ask('/health', { headers: { authorization } })).status).toBe(204)
  })

  it.each([['nobody-here:'], [':'], ['0:']])('%j is refused on every route with a Connect error (envd.md 18.2)', async (credentials) => {
    const body = { code: 'unauthenticated', message: `invalid username: '${credentials.slice(0, -1)}'` }
    for (const [method, path] of [
      ['GET', '/health'],
      ['GET', '/nope'],
      ['POST', '/process.Process/List'],
    ] as const) {
      const response = await ask(path, { method, headers: basic(credentials) })
      expect([response.status, response.headers.get('content-type'), await response.json()]).toEqual([401, 'application/json', body])
    }
    const headers = { ...basic(credentials), 'content-type': 'application/connect+json; charset=utf-8' }
    const stream = await ask('/process.Process/Start', { method: 'POST', headers, body: '' })
    const envelope = Buffer.from(await stream.arrayBuffer())
    expect([stream.status, stream.headers.get('content-type'), envelope[0]]).toEqual([200, 'application/connect+json', 2])
    expect(envelope.readUInt32BE(1)).toBe(envelope.length - 5)
    expect(JSON.parse(envelope.subarray(5).toString())).toEqual({ error: body })
  })
})
