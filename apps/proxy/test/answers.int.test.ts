import { createServer, type AddressInfo } from 'node:net'
import { findFreePort } from '@sandyard/kit/net/free-port'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MemoryRoutes } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { until } from './support/until.ts'
import { startService, type RunningService } from './support/start-service.ts'

const routes = new MemoryRoutes()
let proxy: RunningProxy
let service: RunningService
let closedPort: number

beforeAll(async () => {
  service = await startService((req, res) => res.end(JSON.stringify({ method: req.method, url: req.url, headers: req.rawHeaders })))
  proxy = await startProxy(routes)
  closedPort = await findFreePort()
  const endpoint = { host: '127.0.0.1', daemonPort: service.port }
  routes.put({ sandboxId: 'irun', incarnation: 1, state: 'running', endpoint })
  routes.run('iuser', closedPort)
  for (const state of ['starting', 'paused', 'killing'] as const) {
    routes.put({ sandboxId: `i${state}`, incarnation: 1, state, endpoint })
  }
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

/** The whole answer to a request that closes the connection. */
async function answerTo(lines: readonly string[], body = ''): Promise<string> {
  using client = new RawClient(proxy.port)
  client.send(lines, body)
  await client.closed()
  return client.received
}

const reserved = '"message":"This endpoint is reserved for the E2B control plane and is not reachable through the sandbox URL"'
const notFound = (id: string): string => `{"sandboxId":"${id}","message":"The sandbox was not found","code":502}`

describe('malformed requests', () => {
  it.each([
    ['not HTTP', ['HELLO'], 400, 'Bad request'],
    ['a wrong version', ['GET / HTTP/3.0', 'Host: 80-irun.x'], 400, 'Bad request'],
    ['no host', ['GET / HTTP/1.1', 'Connection: close'], 400, 'Invalid host'],
    ['no host in HTTP/1.0', ['GET / HTTP/1.0'], 400, 'Invalid host'],
    ['two hosts', ['GET / HTTP/1.1', 'Host: 80-irun.x', 'Host: 81-irun.x', 'Connection: close'], 400, 'Invalid host'],
    ['a header without a colon', ['GET / HTTP/1.1', 'Host: 80-irun.x', 'nonsense'], 400, 'Bad request'],
    ['a space before the colon', ['GET / HTTP/1.1', 'Host : 80-irun.x'], 400, 'Bad request'],
    ['a control character in a header', ['GET / HTTP/1.1', 'Host: 80-irun.x', 'X: a\u0001'], 400, 'Bad request'],
    ['a folded header', ['GET / HTTP/1.1', 'Host: 80-irun.x', 'X: a', ' b'], 400, 'Bad request'],
    ['two lengths', ['POST / HTTP/1.1', 'Host: 80-irun.x', 'Content-Length: 1', 'Content-Length: 2'], 400, 'Bad request'],
    ['length and chunks', ['POST / HTTP/1.1', 'Host: 80-irun.x', 'Content-Length: 1', 'Transfer-Encoding: chunked'], 400, 'Bad request'],
    ['an invalid length', ['POST / HTTP/1.1', 'Host: 80-irun.x', 'Content-Length: -1'], 400, 'Bad request'],
    [
      'another coding',
      ['POST / HTTP/1.1', 'Host: 80-irun.x', 'Transfer-Encoding: gzip, chunked', 'Connection: close'],
      400,
      'Invalid transfer coding',
    ],
    ['a relative target', ['GET x HTTP/1.1', 'Host: 80-irun.x'], 400, 'Bad request'],
    ['another scheme', ['GET ftp://80-irun.x/ HTTP/1.1', 'Host: 80-irun.x', 'Connection: close'], 400, 'Invalid request target'],
    ['a fragment', ['GET /a#b HTTP/1.1', 'Host: 80-irun.x', 'Connection: close'], 400, 'Invalid request target'],
    ['an endless head', ['GET / HTTP/1.1', 'Host: 80-irun.x', `X: ${'x'.repeat(70_000)}`], 431, 'The request headers are too large'],
    ['a tunnel', ['CONNECT 10.0.0.1:80 HTTP/1.1', 'Host: 10.0.0.1:80'], 405, 'CONNECT is not supported'],
  ])('%s', async (_, lines, status, text) => {
    const answer = await answerTo(lines)
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^\r]+\r\n`))
    expect(answer).toContain('Content-Type: text/plain; charset=utf-8\r\n')
    expect(answer.endsWith(`\r\n\r\n${text}`)).toBe(true)
  })

  it('in a body end the exchange', async () => {
    using client = new RawClient(proxy.port)
    client.send(['POST / HTTP/1.1', `Host: ${service.port}-iuser.x`, 'Transfer-Encoding: chunked'], 'zz\r\n')
    await client.closed()
    expect(client.received).toMatch(/^HTTP\/1\.1 400 /)
  })
})

describe('addresses (control-plane.md 19.1)', () => {
  const named = ['E2b-Sandbox-Id: irun', 'e2b-sandbox-port: 49983']

  it.each<[string, readonly string[]]>([
    ['the host', ['Host: 49983-irun.x']],
    ['a host with more behind the id', ['Host: 49983-irun-more-parts.a.b.c:3002']],
    ['a host in capitals', ['Host: 49983-IRUN.X']],
    ['headers at localhost', ['Host: localhost:3002', ...named]],
    ['headers at an address', ['Host: 127.0.0.1', ...named]],
    ['headers at an IPv6 address', ['Host: [::1]:3002', ...named]],
    ['headers at sandbox.<domain>', ['Host: sandbox.example.com', ...named]],
    ['the host, although the headers name another', ['Host: 49983-irun.x', 'E2b-Sandbox-Id: iother', 'e2b-sandbox-port: 1']],
  ])('by %s', async (_, lines) => {
    expect(await answerTo(['GET /seen HTTP/1.1', ...lines, 'Connection: close'])).toContain('"url":"/seen"')
  })

  it.each<[string, readonly string[], string]>([
    ['no dot', ['Host: 80-irun'], 'Invalid host'],
    ['no hyphen', ['Host: irun.x'], 'Invalid host'],
    ['no id', ['Host: 80-.x'], 'Invalid sandbox ID'],
    ['an id with other characters', ['Host: 80-i_run.x'], 'Invalid sandbox ID'],
    ['an id in capitals in the header', ['Host: localhost', 'E2b-Sandbox-Id: IRUN', 'e2b-sandbox-port: 80'], 'Invalid sandbox ID'],
    ['no port', ['Host: -irun.x'], 'Invalid sandbox port'],
    ['a port that is no number', ['Host: 8o-irun.x'], 'Invalid sandbox port'],
    ['port 0', ['Host: 0-irun.x'], 'Invalid sandbox port'],
    ['port 65536', ['Host: 65536-irun.x'], 'Invalid sandbox port'],
    ['no port header', ['Host: localhost', 'E2b-Sandbox-Id: irun'], 'missing header E2b-Sandbox-Port'],
    ['no id header', ['Host: localhost', 'E2b-Sandbox-Port: 80'], 'missing header E2b-Sandbox-Id'],
  ])('with %s are refused, also for browsers in text', async (_, lines, text) => {
    const answer = await answerTo(['GET / HTTP/1.1', ...lines, 'User-Agent: Mozilla/5.0', 'Accept: text/html', 'Connection: close'])
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nContent-Type: text\/plain; charset=utf-8\r\n/)
    expect(answer.endsWith(`\r\n\r\n${text}`)).toBe(true)
  })

  it('are checked before the reserved routes', async () => {
    expect(await answerTo(['POST /init HTTP/1.1', 'Host: 49983-i_run.x', 'Connection: close'])).toContain('Invalid sandbox ID')
  })
})

describe('reserved routes', () => {
  it.each(['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'PROPFIND'])('%s is refused before the sandbox is looked up', async (method) => {
    const answer = await answerTo([`${method} /x/../%69nit?a HTTP/1.1`, 'Host: 49983-inever.x', 'Connection: close'])
    expect(answer).toContain('HTTP/1.1 404 Not Found\r\nContent-Type: application/json; charset=utf-8\r\n')
    expect(answer.endsWith(`\r\n\r\n${method === 'HEAD' ? '' : `{${reserved},"path":"/init","code":404}`}`)).toBe(true)
    expect(routes.readsOf('inever')).toBe(0)
  })

  it('are refused as upgrades too', async () => {
    const answer = await answerTo(['GET //init HTTP/1.1', 'Host: 49983-irun.x', 'Connection: Upgrade', 'Upgrade: websocket'])
    expect(answer).toMatch(/^HTTP\/1\.1 404 /)
    expect(answer).toContain(reserved)
  })

  it('cannot be reached at the port of the daemon on the host of the runtime', async () => {
    const answer = await answerTo(['POST /init HTTP/1.1', `Host: ${service.port}-irun.x`, 'Connection: close'])
    expect(answer).toContain(`"message":"The sandbox is running but port is not open","port":${service.port},`)
  })

  it('are ordinary paths on other ports', async () => {
    expect(await answerTo(['GET /init HTTP/1.1', `Host: ${service.port}-iuser.x`, 'Connection: close'])).toContain('"url":"/init"')
  })
})

describe('sandboxes that are not running', () => {
  it.each(['iunknown', 'istarting', 'ipaused', 'ikilling'])('%s', async (id) => {
    const answer = await answerTo([
      'GET /health HTTP/1.1',
      'Host: localhost',
      `E2b-Sandbox-Id: ${id}`,
      'e2b-sandbox-port: 49983',
      'Connection: close',
    ])
    expect(answer).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\nContent-Type: application\/json; charset=utf-8\r\n/)
    expect(answer.endsWith(`\r\n\r\n${notFound(id)}`)).toBe(true)
  })

  it('allow scripts of any page to read the reason, and answer a preflight to the daemon', async () => {
    const preflight = [
      'OPTIONS /x HTTP/1.1',
      'Origin: http://a',
      'Access-Control-Request-Method: POST',
      'Access-Control-Request-Headers: x-access-token',
    ]
    const allowed = await answerTo([...preflight, 'Host: 49983-iunknown.x', 'Connection: close'])
    expect(allowed).toMatch(/^HTTP\/1\.1 204 No Content\r\nAccess-Control-Allow-Origin: \*\r\n/)
    expect(allowed).toContain('Access-Control-Allow-Headers: x-access-token\r\n')
    expect(await answerTo([...preflight, 'Host: 80-iunknown.x', 'Connection: close'])).toMatch(/^HTTP\/1\.1 502 /)
    const actual = await answerTo(['POST /x HTTP/1.1', 'Origin: http://a', 'Host: 49983-iunknown.x', 'Connection: close'])
    expect(actual).toContain('Access-Control-Allow-Origin: *\r\n')
  })
})

describe('pages for browsers (control-plane.md 19.3)', () => {
  it.each<[string, string, string, number, readonly string[]]>([
    ['an unknown sandbox', '80-iunknown.x', '/', 502, ['Sandbox Not Found', 'iunknown']],
    ['a port without a listener', '49983-iuser.x', '/', 502, ['no service running on port', '49983', 'iuser']],
    ['a route of the control plane', '49983-irun.x', '/init', 404, ['/init', 'irun']],
  ])('%s', async (_, host, path, status, fragments) => {
    const browser = ['User-Agent: Mozilla/5.0 Firefox/140.0', 'Accept: text/html', 'Sec-Fetch-Mode: navigate']
    const answer = await answerTo([`GET ${path} HTTP/1.1`, `Host: ${host}`, ...browser, 'Connection: close'])
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^\r]+\r\nContent-Type: text/html; charset=utf-8\r\n`))
    const page = answer.slice(answer.indexOf('\r\n\r\n') + 4)
    expect(page).toMatch(/^<html[\s\S]*<\/html>$/)
    for (const fragment of fragments) expect(page).toContain(fragment)
  })
})

describe('ports', () => {
  it('without a listener are answered as closed', async () => {
    const body = `{"sandboxId":"iuser","message":"The sandbox is running but port is not open","port":49983,"code":502}`
    expect((await answerTo(['GET / HTTP/1.1', 'Host: 49983-iuser.x', 'Connection: close'])).endsWith(`\r\n\r\n${body}`)).toBe(true)
  })

  it('that open shortly after the request are waited for', async () => {
    const port = await findFreePort()
    routes.run('ilate', 9)
    using client = new RawClient(proxy.port)
    client.send(['GET /late HTTP/1.1', `Host: ${port}-ilate.x`])
    const late = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate'))
    // The second read, after the first refusal, checks whether the sandbox has ended.
    await until('the first refusal', () => routes.readsOf('ilate') === 2)
    await new Promise<void>((resolve) => late.listen(port, '127.0.0.1', resolve))
    await client.until('late')
    late.close()
  })

  it('whose service closes the connection without an answer are answered with 502', async () => {
    const rude = createServer((socket) => socket.once('data', () => socket.destroy()))
    await new Promise<void>((resolve) => rude.listen(0, '127.0.0.1', resolve))
    const { port } = rude.address() as AddressInfo
    const answer = await answerTo(['GET / HTTP/1.1', `Host: ${port}-iuser.x`, 'Connection: close'])
    expect(answer).toMatch(/^HTTP\/1\.1 502 /)
    expect(answer).toContain('"message":"The sandbox is running but the service closed the connection without an answer"')
    rude.close()
  })

  it('whose service does not speak HTTP are answered with 502', async () => {
    const gibberish = createServer((socket) => socket.once('data', () => socket.end('SSH-2.0-x\r\n')))
    await new Promise<void>((resolve) => gibberish.listen(0, '127.0.0.1', resolve))
    const { port } = gibberish.address() as AddressInfo
    expect(await answerTo(['GET / HTTP/1.1', `Host: ${port}-iuser.x`, 'Connection: close'])).toMatch(/^HTTP\/1\.1 502 /)
    gibberish.close()
  })
})

describe('a forwarded request', () => {
  it('keeps target, host and headers', async () => {
    const answer = await answerTo(['GET /a%2Fb//c?x=%20&y HTTP/1.1', `HOST: ${service.port}-iuser.X:3002`, 'x-Own: 1', 'Connection: close'])
    const seen = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as { url: string; headers: string[] }
    expect(seen.url).toBe('/a%2Fb//c?x=%20&y')
    const host = `${service.port}-iuser.X:3002`
    expect(seen.headers.slice(0, 10)).toEqual([
      'x-Own',
      '1',
      'Host',
      host,
      'X-Forwarded-For',
      '127.0.0.1',
      'X-Forwarded-Host',
      host,
      'X-Forwarded-Proto',
      'http',
    ])
  })

  it('takes host and path from an absolute target', async () => {
    const answer = await answerTo([`GET http://${service.port}-iuser.x/p?q HTTP/1.1`, 'Host: ignored', 'Connection: close'])
    expect(answer).toContain('"url":"/p?q"')
    expect(answer).toContain(`"Host","${service.port}-iuser.x"`)
  })

  it('forwards the asterisk form', async () => {
    const answer = await answerTo(['OPTIONS * HTTP/1.1', `Host: ${service.port}-iuser.x`, 'Connection: close'])
    expect(answer).toContain('{"method":"OPTIONS","url":"*"')
  })

  it('shares a connection with other requests, and pipelined requests are answered in order', async () => {
    using client = new RawClient(proxy.port)
    const host = `Host: ${service.port}-iuser.x`
    client.send(['GET /1 HTTP/1.1', host, '', 'GET /2 HTTP/1.1', 'Host: 80-iunknown.x', '', 'GET /3 HTTP/1.1', host, 'Connection: close'])
    await client.closed()
    const parts = ['"url":"/1"', notFound('iunknown'), '"url":"/3"'].map((part) => client.received.indexOf(part))
    expect(parts).toEqual(parts.toSorted((a, b) => a - b))
    expect(parts[0]).toBeGreaterThan(0)
  })
})

it('answers its own health probe, and refuses other paths without a sandbox', async () => {
  const healthy = await fetch(`${proxy.url}/health`)
  expect([healthy.status, await healthy.text()]).toEqual([200, 'Health check successful'])
  const daemon = await fetch(`${proxy.url}/health`, { headers: { 'E2b-Sandbox-Id': 'irun', 'E2b-Sandbox-Port': '49983' } })
  expect(await daemon.text()).toContain('"url":"/health"')
  const half = await fetch(`${proxy.url}/health`, { headers: { 'E2b-Sandbox-Id': 'irun' } })
  expect([half.status, await half.text()]).toEqual([400, 'missing header E2b-Sandbox-Port'])
  expect(await answerTo(['GET /health HTTP/1.1', 'Host: sandbox.x', 'Connection: close'])).toContain('Invalid host')
})

it('answers 503 when the routes cannot be read, and keeps running', async () => {
  const failing = new MemoryRoutes()
  failing.read = () => Promise.reject(new Error('no database'))
  await using broken = await startProxy(failing)
  const answer = await fetch(broken.url, { headers: { 'E2b-Sandbox-Id': 'i1', 'E2b-Sandbox-Port': '80' } })
  expect(answer.status).toBe(503)
  expect(await answer.json()).toEqual({
    sandboxId: 'i1',
    message: 'The sandbox cannot be reached right now. Try again in a moment.',
    code: 503,
  })
})
