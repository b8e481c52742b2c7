import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { MemoryRoutes } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { until } from './support/until.ts'

const routes = new MemoryRoutes()
let proxy: RunningProxy
let service: Server
let port: number
/** The service's answer to each request; it keeps its side of the connection open. */
let answer = ''
let sockets: Socket[] = []

beforeAll(async () => {
  service = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined).once('data', () => socket.write(answer, 'latin1'))
  })
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  port = (service.address() as AddressInfo).port
  proxy = await startProxy(routes)
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  service.close()
})
afterEach(async () => {
  await until('no open connection', () => proxy.ctx.tracker.count === 0)
  for (const socket of sockets) socket.destroy()
  sockets = []
})

const REQUESTS: [string, string[], string][] = [
  ['GET', ['GET / HTTP/1.1'], ''],
  ['POST', ['POST / HTTP/1.1', 'Content-Length: 2'], 'hi'],
  ['POST that waits', ['POST / HTTP/1.1', 'Content-Length: 2', 'Expect: 100-continue'], ''],
]
const UPGRADE = ['GET / HTTP/1.1', 'Connection: Upgrade', 'Upgrade: x']
const NO_ANSWER = 'The sandbox is running but the service closed the connection without an answer'

/** Sends to a user's port, or to the daemon's. */
function ask(lines: readonly string[], { body = '', to = port }: { body?: string; to?: number } = {}): RawClient {
  routes.run('i1', to === port ? 9 : port)
  const client = new RawClient(proxy.port)
  client.send([...lines, `Host: ${to}-i1.x`], body)
  return client
}

async function expectRefusal(client: RawClient): Promise<void> {
  await client.until(NO_ANSWER)
  expect(client.received).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n/)
  await until('the end in the service', () => sockets.every((socket) => socket.destroyed))
}

describe('a switch of protocols without a request for one is answered with 502', () => {
  const SWITCHED = 'HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhello'

  it.each(REQUESTS)('to a %s', async (_, lines, body) => {
    answer = SWITCHED
    using client = ask(lines, { body })
    await expectRefusal(client)
  })

  it('after an interim answer', async () => {
    answer = `HTTP/1.1 100 Continue\r\n\r\n${SWITCHED}`
    using client = ask(['GET / HTTP/1.1'])
    await expectRefusal(client)
  })

  it('on a reused connection', async () => {
    answer = SWITCHED
    using client = ask(['GET / HTTP/1.1'], { to: 49983 })
    await expectRefusal(client)
  })
})

describe('a switch that names no protocol is answered with 502', () => {
  it.each<[string, string[], string]>([...REQUESTS, ['upgrade', UPGRADE, '']])('to a %s', async (_, lines, body) => {
    answer = 'HTTP/1.1 101 S\r\n\r\nhello'
    using client = ask(lines, { body })
    await expectRefusal(client)
  })
})

it.each([
  ['a request', ['GET / HTTP/1.1', 'Connection: close']],
  ['an upgrade', UPGRADE],
])('%s accepts an answer that offers another protocol', async (_, lines) => {
  for (const status of ['200 OK', '426 Upgrade Required']) {
    answer = `HTTP/1.1 ${status}\r\nUpgrade: x\r\nConnection: Upgrade\r\nContent-Length: 5\r\n\r\nplain`
    using client = ask(lines)
    expect(await client.closed()).toBe('end')
    expect(client.received).toMatch(new RegExp(`^HTTP/1.1 ${status}\r\n.*\r\n\r\nplain$`, 's'))
  }
})
