import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { proxyWakeKey } from '@sandyard/db/sandbox-token'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { MemoryRoutes, TOKEN_SEED, type Row } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { answerJson, startStandInApi, type StandInApi } from './support/stand-in-api.ts'
import { startDeafListener } from './support/start-deaf-listener.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'
import { until } from './support/until.ts'

let routes: MemoryRoutes
let api: StandInApi
let service: RunningService
let proxy: RunningProxy
let paused: Row
/** Requests that the service never answers. */
let silent: ServerResponse[] = []

beforeAll(async () => {
  service = await startService((req, res) => void serve(req, res))
  const sockets = new WebSocketServer({ server: service.server })
  sockets.on('connection', (client) => client.on('message', (data) => client.send(data as Buffer)))
})
async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (req.url === '/first' && silent.length < 2) return void silent.push(res)
  const hash = createHash('sha256')
  for await (const chunk of req as AsyncIterable<Buffer>) hash.update(chunk)
  res.end(`${req.url} ${hash.digest('hex')}`)
}
afterAll(() => service[Symbol.asyncDispose]())
beforeEach(async () => {
  routes = new MemoryRoutes()
  silent = []
  api = await startStandInApi()
  proxy = await startProxy(routes, { apiInternalUrl: api.url })
  paused = {
    sandboxId: 'i1',
    incarnation: 1,
    state: 'paused',
    endpoint: { host: '127.0.0.1', daemonPort: service.port },
    wakes: true,
  }
  routes.put(paused)
})
afterEach(async () => {
  await until('no waiting request', () => proxy.ctx.liveRoutes.waiting === 0)
  await proxy[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

const host = 'Host: 49983-i1.x'
const resume = (row: Partial<Row> = {}): void => routes.put({ ...paused, state: 'running', startedAt: 2, ...row })
/** The control plane resumes the sandbox and then answers. */
const resumes = (_: unknown, res: ServerResponse): void => {
  resume()
  answerJson(res, 200)
}
const notFound = '{"sandboxId":"i1","message":"The sandbox was not found","code":502}'
const refused = `{"sandboxId":"i1","message":"This sandbox can't be resumed with the credentials provided. Check your access token and try again.","code":403}`
const transitioning = '{"sandboxId":"i1","message":"The sandbox is still transitioning. Try again in a moment.","code":409}'

function request(lines: readonly string[] = [`GET /x HTTP/1.1`, host], body = ''): RawClient {
  const client = new RawClient(proxy.port)
  client.send([...lines, 'Connection: close'], body)
  return client
}

/** The whole answer to a request. */
async function answerTo(...lines: string[]): Promise<string> {
  using client = request(lines.length === 0 ? undefined : lines)
  await client.closed()
  return client.received
}

describe('[proxy resume by traffic] a paused sandbox that traffic resumes (control-plane.md 19.6)', () => {
  it('is resumed with the key of the installation, and the same request is forwarded with its whole body', async () => {
    api.handle = resumes
    const body = randomBytes(2_000_000)
    const answer = await fetch(`${proxy.url}/upload`, {
      method: 'POST',
      headers: { 'E2b-Sandbox-Id': 'i1', 'E2b-Sandbox-Port': '49983' },
      body,
    })
    expect(await answer.text()).toBe(`/upload ${createHash('sha256').update(body).digest('hex')}`)
    expect(api.asked).toEqual([`POST /internal/sandboxes/i1/wake Bearer ${proxyWakeKey(TOKEN_SEED)}`])
  })

  it('answers a client that has ended its sending', async () => {
    api.handle = resumes
    using client = new RawClient(proxy.port)
    client.socket.end(`GET /x HTTP/1.1\r\n${host}\r\n\r\n`)
    expect(await client.closed()).toBe('end')
    expect(client.received).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  })

  it('is not resumed by a question whether it runs, on the port of the daemon', async () => {
    api.handle = resumes
    for (const line of ['GET /health HTTP/1.1', 'HEAD /health HTTP/1.1', 'GET /health?x=1 HTTP/1.1']) {
      expect(await answerTo(line, host)).toMatch(/^HTTP\/1\.1 502 /)
    }
    expect(await answerTo('GET /health HTTP/1.1', host)).toContain(notFound)
    expect(api.asked).toEqual([])
    expect(await answerTo('GET /health/x HTTP/1.1', host)).toMatch(/^HTTP\/1\.1 200 /)
    routes.put(paused)
    expect(await answerTo('POST /health HTTP/1.1', host, 'Content-Length: 0')).toMatch(/^HTTP\/1\.1 200 /)
    expect(api.asked.length).toBe(2)
  })

  it('is resumed by a request for /health of another port', async () => {
    api.handle = resumes
    expect(await answerTo('GET /health HTTP/1.1', 'Host: 80-i1.x')).not.toContain(notFound)
    expect(api.asked.length).toBe(1)
  })

  it('is resumed once for requests that come at the same time', async () => {
    api.handle = () => undefined
    const clients = Array.from({ length: 50 }, () => request())
    await until('the requests', () => proxy.ctx.liveRoutes.waiting === 50 && api.asked.length > 0)
    for (const res of api.open) resumes(undefined, res)
    for (const client of clients) {
      await client.until('HTTP/1.1 200 OK')
      client[Symbol.dispose]()
    }
    expect(api.asked.length).toBe(1)
  })

  it('is resumed for a request whose connection attempt the pause broke off', async () => {
    api.handle = resumes
    await using deaf = await startDeafListener()
    resume({ endpoint: { host: '127.0.0.1', daemonPort: deaf.port } })
    const clients = [request(), request(['GET / HTTP/1.1', host, 'Connection: Upgrade', 'Upgrade: raw'])]
    await until('the attempts', () => proxy.ctx.tracker.count === 2)
    routes.put(paused)
    for (const client of clients) {
      await client.until('HTTP/1.1 ')
      expect(client.received).not.toContain(' 502 ')
      client[Symbol.dispose]()
    }
    expect(api.asked.length).toBe(1)
  })

  it('is resumed for a GET that the pause left without an answer, and not for a POST, which may have had an effect', async () => {
    api.handle = resumes
    resume()
    const clients = ['GET', 'POST'].map((method) => request([`${method} /first HTTP/1.1`, host]))
    await until('the requests', () => silent.length === 2)
    routes.put(paused)
    await clients[0]?.until('/first')
    await clients[1]?.until(notFound)
    expect([silent.length, api.asked.length]).toEqual([2, 1])
    for (const client of clients) client[Symbol.dispose]()
  })

  it('is asked for again when the control plane does not answer, also while more requests come all the time', async () => {
    api.handle = () => undefined
    await using hasty = await startProxy(routes, { apiInternalUrl: api.url, waitTimeoutMs: 500 })
    const clients: RawClient[] = []
    await until('a second call', () => {
      const client = new RawClient(hasty.port)
      clients.push(client)
      client.send(['GET /x HTTP/1.1', host])
      return api.asked.length > 1
    })
    await clients[0]?.until(transitioning)
    for (const client of clients) client[Symbol.dispose]()
    await until('no waiting request', () => hasty.ctx.liveRoutes.waiting === 0)
  })

  it('is resumed by a WebSocket', async () => {
    api.handle = resumes
    paused = { ...paused, endpoint: { host: '127.0.0.1', daemonPort: 9 } }
    routes.put(paused)
    const socket = new WebSocket(proxy.url, { headers: { host: `${service.port}-i1.x` } })
    await once(socket, 'open')
    socket.send('hello')
    const [echoed] = (await once(socket, 'message')) as [Buffer]
    expect(echoed.toString()).toBe('hello')
    socket.terminate()
  })

  it('gets a raw upgrade with the bytes that came while it was resumed', async () => {
    api.handle = () => undefined
    using client = new RawClient(proxy.port)
    client.send([
      'GET / HTTP/1.1',
      host,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${KEY}`,
    ])
    await until('the call', () => api.open.size === 1)
    // One masked text frame, "hi" with the mask zero.
    client.socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]))
    for (const res of api.open) resumes(undefined, res)
    await client.until('\x82\x02hi')
  })

  it('is asked for again when it was paused again, three times at most', async () => {
    api.handle = (_, res) => answerJson(res, 200)
    expect(await answerTo()).toContain(transitioning)
    expect(api.asked.length).toBe(3)
  })

  it.each<[string, (res: ServerResponse) => void, string]>([
    ['404', (res) => answerJson(res, 404, { code: 404, message: 'x' }), notFound],
    ['403', (res) => answerJson(res, 403, { code: 403, message: 'Team is blocked' }), refused],
    ['409', (res) => answerJson(res, 409), transitioning],
    [
      '429',
      (res) => answerJson(res, 429, { message: 'you have reached <it>' }),
      '{"sandboxId":"i1","message":"you have reached <it>","code":429}',
    ],
    ['429 without a message', (res) => answerJson(res, 429), notFound],
    ['500', (res) => answerJson(res, 500, { message: 'x' }), notFound],
    ['a redirect', (res) => res.writeHead(307, { location: '/' }).end(), notFound],
    ['no answer', (res) => res.destroy(), notFound],
  ])('is answered by what the control plane says: %s', async (_, handle, body) => {
    api.handle = (_, res) => handle(res)
    const answer = await answerTo()
    const code = /"code":(\d+)/.exec(body)?.[1] ?? ''
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${code} `))
    expect(answer.endsWith(`\r\n\r\n${body}`)).toBe(true)
  })

  it.each<[number, string, string]>([
    [403, "can't be resumed with the credentials", '403'],
    [404, 'Sandbox Not Found', '502'],
    [409, 'Sandbox Is Transitioning', '409'],
    [429, 'you have reached &lt;it&gt;', '429'],
  ])('is answered with a page for a browser when the control plane says %i', async (status, fragment, code) => {
    api.handle = (_, res) => answerJson(res, status, { message: 'you have reached <it>' })
    const answer = await answerTo('GET / HTTP/1.1', host, 'User-Agent: Mozilla/5.0 Chrome/140.0', 'Accept: text/html')
    expect(answer.startsWith(`HTTP/1.1 ${code} `)).toBe(true)
    const page = answer.slice(answer.indexOf('\r\n\r\n') + 4)
    expect(page).toMatch(/^<html[\s\S]*<\/html>$/)
    expect(page).toContain(fragment)
    expect(page).toContain('i1')
  })

  it('is not found when there is no control plane', async () => {
    for (const settings of [{}, { apiInternalUrl: 'http://127.0.0.1:9' }, { apiInternalUrl: 'nonsense' }]) {
      await using alone = await startProxy(routes, settings)
      const answer = await fetch(alone.url, { headers: { 'E2b-Sandbox-Id': 'i1', 'E2b-Sandbox-Port': '49983' } })
      expect([answer.status, await answer.text()]).toEqual([502, notFound])
    }
  })
})

/** Any 16 bytes in base64. */
const KEY = Buffer.alloc(16).toString('base64')

describe('a request during a transition (control-plane.md 17.2)', () => {
  const waits = async (): Promise<RawClient> => {
    const client = request()
    await until('the wait', () => proxy.ctx.liveRoutes.waiting === 1)
    return client
  }

  it.each(['pausing', 'resuming', 'snapshotting'] as const)('waits and is served: %s', async (state) => {
    routes.put({ ...paused, state })
    using client = await waits()
    resume()
    await client.until('HTTP/1.1 200 OK')
    expect(api.asked).toEqual([])
  })

  it('resumes the sandbox when its pause is complete', async () => {
    api.handle = resumes
    routes.put({ ...paused, state: 'pausing' })
    using client = await waits()
    routes.put(paused)
    await client.until('HTTP/1.1 200 OK')
    expect(api.asked.length).toBe(1)
  })

  it.each<[string, () => void]>([
    ['is paused and not resumed by traffic', () => routes.put({ ...paused, wakes: false })],
    ['is killed', () => routes.put({ ...paused, state: 'killing' })],
    ['is gone', () => routes.remove('i1')],
  ])('is answered with "not found" when the sandbox %s', async (_, change) => {
    routes.put({ ...paused, state: 'pausing' })
    using client = await waits()
    change()
    await client.until(notFound)
  })

  it('needs the traffic token when it is served', async () => {
    routes.put({ ...paused, state: 'snapshotting', isPublic: false })
    using client = request(['GET / HTTP/1.1', 'Host: 80-i1.x'])
    await until('the wait', () => proxy.ctx.liveRoutes.waiting === 1)
    resume({ isPublic: false })
    await client.until("Token header 'e2b-traffic-access-token' is missing")
  })

  it('notices the change when its notification was lost', async () => {
    routes.put({ ...paused, state: 'resuming' })
    using client = await waits()
    routes.isSilent = true
    resume()
    await client.until('HTTP/1.1 200 OK')
  })
})

describe('the wait for a sandbox', () => {
  const restart = async (settings: Parameters<typeof startProxy>[1]): Promise<void> => {
    await proxy[Symbol.asyncDispose]()
    proxy = await startProxy(routes, { apiInternalUrl: api.url, ...settings })
  }

  it.each(['pausing', 'resuming', 'snapshotting'] as const)('ends with 409 after its time: %s', async (state) => {
    await restart({ waitTimeoutMs: 50 })
    routes.put({ ...paused, state })
    expect(await answerTo()).toMatch(/^HTTP\/1\.1 409 Conflict\r\n/)
  })

  it('ends with 409 when the control plane does not answer in time', async () => {
    await restart({ waitTimeoutMs: 50 })
    api.handle = () => undefined
    expect((await answerTo()).endsWith(transitioning)).toBe(true)
    await until('the end of the call', () => api.open.size === 0)
  })

  it('ends when its client disconnects, and the call with the last of them', async () => {
    api.handle = () => undefined
    const clients = [request(), request(), request(['GET / HTTP/1.1', host, 'Connection: Upgrade', 'Upgrade: raw'])]
    await until('the requests', () => proxy.ctx.liveRoutes.waiting === 3 && api.open.size === 1)
    const last = clients.pop()
    for (const client of clients) client[Symbol.dispose]()
    await until('the end of two', () => proxy.ctx.liveRoutes.waiting === 1)
    expect(api.open.size).toBe(1)
    last?.[Symbol.dispose]()
    await until('the end of the call', () => api.open.size === 0)
    expect(api.asked.length).toBe(1)
  })

  it('reads no more than a buffer of the body', async () => {
    api.handle = () => undefined
    const size = 64 * 1024 * 1024
    using client = request(['POST /big HTTP/1.1', host, `Content-Length: ${size}`])
    await until('the call', () => api.open.size === 1)
    const chunk = Buffer.alloc(1024 * 1024)
    let sent = 0
    while (sent < size && client.socket.write(chunk)) sent += chunk.length
    for (let rest = sent; rest < size; rest += chunk.length) client.socket.write(chunk)
    for (let i = 0; i < 50; i++) await fetch(`${proxy.url}/health`).then((answer) => answer.text())
    // What the proxy and the kernel have not taken is still here.
    expect(client.socket.writableLength).toBeGreaterThan(size / 2)
    for (const res of api.open) resumes(undefined, res)
    await client.until('/big')
  })

  it('has a cap for each sandbox and one for all', async () => {
    await restart({ maxWaiting: 3, maxSandboxWaiting: 2, fronts: ['127.0.0.1'] })
    api.handle = () => undefined
    for (const sandboxId of ['i2', 'i3']) routes.put({ ...paused, sandboxId })
    const clients = [request(), request()]
    await until('the requests', () => proxy.ctx.liveRoutes.waiting === 2)
    const over = await answerTo()
    expect(over).toMatch(/^HTTP\/1\.1 429 .*\r\nRetry-After: 1\r\n/s)
    expect(over).toContain('"message":"The sandbox has too many requests that wait until it runs (limit: 2)","limit":2,')
    clients.push(request(['GET / HTTP/1.1', 'Host: 80-i2.x']))
    await until('the third request', () => proxy.ctx.liveRoutes.waiting === 3)
    expect(await answerTo('GET / HTTP/1.1', 'Host: 80-i3.x')).toMatch(/^HTTP\/1\.1 503 /)
    expect([await proxy.refusals('sandbox_waiting'), await proxy.refusals('waiting')]).toEqual([1, 1])
    for (const client of clients) client[Symbol.dispose]()
  })

  it('has a cap for each client', async () => {
    await restart({ maxWaiting: 4 })
    api.handle = () => undefined
    const clients = [request(), request()]
    await until('the requests', () => proxy.ctx.liveRoutes.waiting === 2)
    expect(await answerTo()).toMatch(/^HTTP\/1\.1 503 /)
    const other = new RawClient(proxy.port, '127.0.0.5')
    other.send(['GET / HTTP/1.1', host])
    await until('the third request', () => proxy.ctx.liveRoutes.waiting === 3)
    for (const client of [...clients, other]) client[Symbol.dispose]()
  })

  it('ends when the proxy stops', async () => {
    api.handle = () => undefined
    using client = request()
    using upgrade = request(['GET / HTTP/1.1', host, 'Connection: Upgrade', 'Upgrade: raw'])
    await until('the requests', () => proxy.ctx.liveRoutes.waiting === 2)
    await proxy[Symbol.asyncDispose]()
    await Promise.all([client.closed(), upgrade.closed()])
  })
})
