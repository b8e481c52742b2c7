import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { OPERATIONS } from '@sandyard/api-contract/operations'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { createMetricsServer } from '@sandyard/kit/http/metrics-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorld, type Server, type World } from './support/control-plane.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

const withPairs = (field: string, count: number, length: number): string =>
  JSON.stringify({
    templateID: 'base',
    [field]: Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'v'.repeat(length)])),
  })

let world: World
let api: Server
let origin: string
beforeAll(async () => {
  world = await createWorld()
  api = await world.startServer({ env: { SANDYARD_RATE_LIMITS: 'listSandboxes=1/60:2' } })
  await api.app.listen({ host: '127.0.0.1', port: 0 })
  origin = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`
})
afterAll(() => world[Symbol.asyncDispose]())

describe('errors', () => {
  it.each<[string, string, number, string | RegExp]>([
    ['GET', '/nothing', 404, /^validation error: .*no matching operation/],
    ['PATCH', '/sandboxes', 404, /^validation error: /],
    ['GET', '/sandboxes/', 404, /^validation error: .*no matching operation/],
    ['DELETE', '/sandboxes/', 404, /^validation error: .*no matching operation/],
    ['POST', '/sandboxes//timeout', 404, /^validation error: .*no matching operation/],
    ['GET', '/instances/i0', 404, 'Endpoints are deprecated, please update your SDK to use the new endpoints.'],
    ['POST', '/envs', 404, 'Endpoints are deprecated, please update your SDK to use the new endpoints.'],
    ['GET', '/sandboxes/%zz', 400, /./],
    ['GET', '/sandboxes/UPPER', 400, 'Invalid sandbox ID'],
    ['GET', '/sandboxes/a%2Fb', 400, 'Invalid sandbox ID'],
    ['GET', '/v2/sandboxes?limit=0', 400, /^validation error: error in openapi3filter.RequestError: /],
    ['GET', '/v2/sandboxes?limit=ten', 400, /^validation error: Invalid format for parameter limit: /],
    ['GET', '/v2/sandboxes?limit=', 400, /^validation error: Invalid format for parameter limit: /],
    ['GET', '/v2/sandboxes?startedAfter=9999-12-31T23:59:59-01:00', 400, /^validation error: .*startedAfter/],
    ['GET', '/v2/sandboxes?limit=1&limit=2', 400, /^validation error: Invalid format for parameter limit: /],
  ])('%s %s is %i', async (method, url, code, message) => {
    const answer = await api.call(method as 'GET', url)
    expect(answer).toMatchObject({ status: code, headers: { 'content-type': JSON_TYPE } })
    expect(answer.body).toEqual({ code, message: typeof message === 'string' ? message : expect.stringMatching(message) })
  })

  it.each<[string, string | undefined, string | undefined, RegExp]>([
    ['/sandboxes', undefined, undefined, /^validation error: .*request body has an error/],
    ['/sandboxes', 'application/json', '', /^validation error: .*request body has an error/],
    ['/sandboxes', 'application/json', '{', /^Error when parsing request: error when parsing request: ./],
    ['/v2/templates', 'application/json', '{', /^Invalid request body: ./],
    ['/sandboxes', 'application/json', '[]', /^validation error: /],
    ['/sandboxes', 'application/json', 'null', /^validation error: /],
    ['/sandboxes', 'text/plain', '{"templateID":"base"}', /^validation error: .*Content-Type/],
    ['/sandboxes', 'nonsense', '{"templateID":"base"}', /^validation error: .*Content-Type has unexpected value "nonsense"/],
    ['/sandboxes', 'a b/c; x', '{"templateID":"base"}', /^validation error: .*Content-Type has unexpected value "a b/],
    ['/sandboxes', 'application/json', '{"templateID":"base","timeout":"2"}', /^validation error: .*timeout/],
    ['/sandboxes', 'application/json', '{"templateID":"base","timeout":4294967296}', /^validation error: .*timeout/],
    ['/sandboxes', 'application/json', '{"templateID":"base","metadata":{"a":1}}', /^validation error: .*metadata/],
    ['/sandboxes', 'application/json', '{"templateID":"base","metadata":{"a":"\\u0000"}}', /^validation error: .*metadata/],
    ['/sandboxes', 'application/json', '{"templateID":"base","metadata":{"a":"\\ud800"}}', /^validation error: .*metadata/],
    ['/sandboxes', 'application/json', '{"templateID":"base","envVars":{"a=b":"c"}}', /^validation error: .*envVars/],
    ['/sandboxes', 'application/json', withPairs('metadata', 1, 65_536), /^validation error: metadata must not have more than 64 KiB$/],
    ['/sandboxes', 'application/json', withPairs('envVars', 1, 65_536), /^validation error: envVars must not have more than 64 KiB$/],
    [
      '/sandboxes',
      'application/json',
      withPairs('metadata', 1, 10_000_000),
      /^Error when parsing request: .*: it has a text of more than 512 KiB$/,
    ],
    ['/sandboxes', 'application/json', withPairs('metadata', 1025, 1), /^validation error: metadata must not have more than 1024 keys$/],
    ['/v2/sandboxes', 'application/json', withPairs('envVars', 1025, 1), /^validation error: envVars must not have more than 1024 keys$/],
    [
      '/sandboxes',
      'application/json',
      `{"a":${'['.repeat(8_000_000)}`,
      /^Error when parsing request: .*: it is nested deeper than 64 levels$/,
    ],
    ['/v2/templates', 'application/json', `[${'{},'.repeat(100_000)}1]`, /^Invalid request body: it has more than 32768 keys and items$/],
    ['/v2/templates', 'application/json', `{"a":"${'x'.repeat(1_000_000)}`, /^Invalid request body: ./],
  ])('POST %s (%s) %#: a body of another form is 400', async (url, type, payload, message) => {
    const headers = { 'x-api-key': world.credentials.apiKey, ...(type !== undefined && { 'content-type': type }) }
    const answer = await api.app.inject({ method: 'POST', url, headers, ...(payload !== undefined && { payload }) })
    expect(answer.json()).toEqual({ code: 400, message: expect.stringMatching(message) })
  })

  it('accepts metadata and variables up to their limits, in a body that a thread parses', async () => {
    const pairs = Object.fromEntries(Array.from({ length: 1024 }, (_, n) => [`k${String(n).padStart(4, '0')}`, 'é'.repeat(29)]))
    const body = { templateID: 'base', metadata: pairs, envVars: pairs, unknown: ['x'.repeat(400_000), 'y'.repeat(400_000)] }
    const created = await api.call('POST', '/v2/sandboxes', { body })
    expect(created.status, created.text).toBe(201)
    expect((await api.call('GET', `/sandboxes/${created.body.sandboxID}`)).body.metadata).toEqual(pairs)
    await api.call('DELETE', `/sandboxes/${created.body.sandboxID}`)
  })

  it('accepts ids up to the limit of the request line', async () => {
    expect((await api.call('GET', `/sandboxes/${'a'.repeat(5000)}`)).status).toBe(404)
  })

  it('asks users of old CLIs to update', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    const answer = await api.call('POST', '/templates/x/y/z', { headers, body: '--x--' })
    expect(answer.body).toEqual({ code: 404, message: 'Endpoint deprecated please update your CLI to the latest version' })
  })

  it.each(['content-length', 'chunked'])('answers a body that is too large (%s) while the client still sends it', async (form) => {
    const body = `{"templateID":"${'x'.repeat(17 * 1024 * 1024)}"}`
    const headers = {
      'x-api-key': world.credentials.apiKey,
      'content-type': 'application/json',
      ...(form === 'content-length' && { 'content-length': String(body.length) }),
    }
    // Without an agent the client asks for the connection to be closed, so the answer must not overtake the body.
    const call = request(`${origin}/sandboxes`, { method: 'POST', headers, agent: false })
    call.write(body)
    call.end()
    const [answer] = (await once(call, 'response')) as [IncomingMessage]
    expect(answer.statusCode).toBe(413)
    expect(JSON.parse(await text(answer))).toEqual({ code: 413, message: expect.stringContaining('16 MiB') })
  })

  it('refuses a declared length that is too large before the body arrives', async () => {
    const head = `POST /sandboxes HTTP/1.1\r\nhost: x\r\nx-api-key: ${world.credentials.apiKey}\r\ncontent-type: application/json\r\ncontent-length: 99999999\r\n\r\n`
    const { port } = api.app.server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1', () => socket.write(head))
    let answer = ''
    for await (const chunk of socket) {
      answer += String(chunk)
      if (answer.endsWith('}')) break
    }
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(answer.toLowerCase()).toContain('connection: close')
    expect(answer).toContain('{"code":413,')
  })

  it.each([
    ['GET /health HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    ['GET /health HTTP/1.1\r\nhost: x\r\nexpect: miracles\r\nconnection: close\r\n\r\n', 417],
    ['GET / HTTP/1.1\r\nhost: x\r\nbroken header\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nhost: x\r\nlarge: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('answers what is not HTTP in the same shape', async (text, code) => {
    const answer = await speak(text)
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${code} `))
    expect(answer).toContain(`{"code":${code},`)
  })
})

/** Sends bytes and reads until the server hangs up. */
function speak(text: string, port = (api.app.server.address() as AddressInfo).port): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (chunk) => (answer += String(chunk)))
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}

describe('bodies', () => {
  it('ignores unknown properties and prototypes', async () => {
    const headers = { 'x-api-key': world.credentials.apiKey, 'content-type': 'application/json' }
    const payload = '{"templateID":"base","unknown":{"a":1},"__proto__":{"secure":true}}'
    const answer = await api.app.inject({ method: 'POST', url: '/sandboxes', headers, payload })
    expect(answer.statusCode).toBe(201)
    expect(answer.json()).not.toHaveProperty('envdAccessToken')
  })

  it.each(['nonsense', 'text/plain', ''])('may have any content type (%j) for operations without a body', async (type) => {
    const { body } = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })
    const headers = { 'x-api-key': world.credentials.apiKey, 'content-type': type }
    const killed = await api.app.inject({ method: 'DELETE', url: `/sandboxes/${body.sandboxID}`, headers, payload: 'x' })
    expect(killed.statusCode).toBe(204)
  })

  it('accepts optional bodies that are absent, empty or chunked, and JSON on DELETE', async () => {
    const { body } = await api.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })
    const url = `${origin}/v2/sandboxes/${body.sandboxID}/connect`
    const headers = { 'x-api-key': world.credentials.apiKey }
    const json = { ...headers, 'content-type': 'application/json' }
    const chunked = { body: new Blob(['{"timeout":', '60}']).stream(), duplex: 'half' } as RequestInit
    for (const init of [{ headers }, { headers: json }, { headers: json, body: '{}' }, { headers: json, ...chunked }]) {
      expect((await fetch(url, { method: 'POST', ...init })).status).toBe(200)
    }
    const killed = await fetch(`${origin}/sandboxes/${body.sandboxID}`, { method: 'DELETE', headers: json, body: '{}' })
    expect([killed.status, await killed.text()]).toEqual([204, ''])
  })
})

describe('requests of browsers', () => {
  it('are allowed from every origin', async () => {
    const preflight = await fetch(`${origin}/v2/sandboxes`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.test',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-api-key,browser',
      },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase() ?? ''
    const wanted = 'content-type user-agent authorization x-api-key browser lang lang_version package_version publisher sdk_runtime system'
    for (const name of wanted.split(' ')) expect(allowed).toContain(name)

    const refused = await fetch(`${origin}/v2/sandboxes`, { headers: { origin: 'https://app.test' } })
    expect(refused.status).toBe(401)
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
    expect(refused.headers.get('access-control-expose-headers')).toMatch(/X-Next-Token.*X-Total-Running.*RateLimit-Limit.*Retry-After/)
  })
})

describe('limits and health', () => {
  it('counts requests of a team where a limit is configured', async () => {
    const answers = [await api.call('GET', '/sandboxes'), await api.call('GET', '/sandboxes'), await api.call('GET', '/sandboxes')]
    expect(answers.map(({ status, headers }) => [status, headers['ratelimit-limit'], headers['ratelimit-remaining']])).toEqual([
      [200, '2', '1'],
      [200, '2', '0'],
      [429, '2', '0'],
    ])
    expect(answers[2]?.body).toEqual({ code: 429, message: 'Rate limit exceeded' })
    expect(Number(answers[2]?.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    expect((await api.call('GET', '/v2/sandboxes')).headers).not.toHaveProperty('ratelimit-limit')
  })

  it('keeps idle connections longer than every client, and limits headers to five seconds', () => {
    const { keepAliveTimeout, headersTimeout } = api.app.server
    expect({ keepAliveTimeout, headersTimeout }).toEqual({ keepAliveTimeout: 620_000, headersTimeout: 5000 })
  })

  it.each([
    ['before it is read', '/sandboxes', /^HTTP\/1\.1 408 .*"code":408/s],
    ['of an operation that reads none', '/nothing', /^HTTP\/1\.1 404 /],
  ])('gives up on a body that takes too long, %s', async (_, path, answer) => {
    const server = await world.startServer({ app: { bodyTimeoutMs: 50 } })
    await server.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = server.app.server.address() as AddressInfo
    const key = world.credentials.apiKey
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{`
    expect(await speak(head, port)).toMatch(answer)
  })

  it('[GET /health] answers 200, [GET /ready] answers 503 when the database or the engine does not answer', async () => {
    expect(await api.call('GET', '/health', { apiKey: null })).toMatchObject({ status: 200, text: 'Health check successful' })
    expect(await api.call('GET', '/ready', { apiKey: null })).toMatchObject({ status: 200, body: { ready: true } })
    world.engine.stop()
    // The outcome of a check is remembered for a second.
    const whenNotReady = async () => {
      const answer = await api.call('GET', '/ready', { apiKey: null })
      return answer.status === 503 ? answer : undefined
    }
    const notReady = await pollUntil({ what: 'not being ready', timeoutMs: 20_000, everyMs: 50 }, whenNotReady)
    expect(notReady).toMatchObject({ body: { ready: false, database: true, runtime: false } })
    world.engine.start()
  })
})

it('[GET /ready] pings at most once a second for any number of requests, and lists nothing', async () => {
  const server = await world.startServer()
  const { faults } = server.runtime
  const before = faults.calls.length
  const held = faults.hold('ping')
  const asked = Array.from({ length: 1000 }, () => server.call('GET', '/ready', { apiKey: null }))
  await held.reached
  held.release()
  expect(new Set((await Promise.all(asked)).map(({ status }) => status))).toEqual(new Set([200]))
  // A slow machine takes more than the second for which an answer is remembered.
  const calls = faults.calls.slice(before)
  expect(calls.filter((point) => point === 'ping').length).toBeLessThan(50)
  expect(calls).not.toContain('list')
})

describe('metrics', () => {
  it('are served on a separate port', async () => {
    const server = createMetricsServer(api.ctx.metrics.registry)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const page = await (await fetch(`${url}/metrics`)).text()
    expect(page).toMatch(/sandyard_api_request_seconds_count\{operation="getHealth",status="200"\} \d/)
    expect(page).toContain('sandyard_sandboxes{state="running"} ')
    expect((await fetch(url)).status).toBe(404)
    expect((await fetch(`${origin}/metrics`)).status).toBe(404)
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
})

describe('requests for what is not served', () => {
  it('answer 501 and are counted', async () => {
    for (const id of ['i0', 'acme%2Fapp%3Av1']) {
      const answer = await api.call('POST', `/sandboxes/${id}/snapshots`, { body: { memory: true } })
      expect(answer).toMatchObject({ status: 501, headers: { 'content-type': JSON_TYPE } })
      expect(answer.body).toEqual({
        code: 501,
        message: "This server does not support the field 'memory' yet: leave it out or at its default.",
      })
    }
    const metrics = await api.ctx.metrics.registry.metrics()
    expect(metrics).toContain('sandyard_unimplemented_requests_total{operation="createSnapshot",field="memory"} 2')
  })

  it('keeps secrets out of caches', async () => {
    for (const url of ['/secrets', '/secrets/sec_1']) expect((await api.call('GET', url)).headers['cache-control']).toBe('no-store')
  })
})

describe('/openapi.json', () => {
  it('describes every operation, with its version and what is deprecated', async () => {
    const { body } = await api.call('GET', '/openapi.json', { apiKey: null })
    expect(body.info.version).toBe('0.1.0')
    for (const { method, path, id, ...operation } of OPERATIONS) {
      const described = body.paths[path]?.[method.toLowerCase()]
      expect(described?.operationId, path).toBe(id)
      expect(described.deprecated ?? false, path).toBe('deprecated' in operation)
    }
    expect(body.components.schemas.SandboxDetail.properties.domain.deprecated).toBe(true)
  })
})
