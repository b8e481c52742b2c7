import { seededRandom } from '@sandyard/test-kit/seeded-random'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { resetSocket } from '@sandyard/kit/net/reset-socket'
import { MemoryRoutes } from './support/memory-routes.ts'
import { signUrl } from './support/sign-url.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { startService, type RunningService } from './support/start-service.ts'
import { until } from './support/until.ts'

const routes = new MemoryRoutes()
let proxy: RunningProxy
let service: RunningService
const below = seededRandom(20_250_101)

beforeAll(async () => {
  // Answers, breaks off, resets or stalls, chosen at random.
  service = await startService((req, res) => {
    const way = pick(['break', 'reset', 'begin', 'large', 'drain', 'drain'])
    if (way === 'break') res.destroy()
    else if (way === 'reset') req.socket.resetAndDestroy()
    else if (way === 'begin') res.write('begun')
    else if (way === 'large') res.end('x'.repeat(300_000))
    else req.resume().once('end', () => res.end('{}'))
  })
  service.server.on('upgrade', (_, socket) => {
    socket.on('error', () => undefined)
    const way = pick(['switch', 'refuse', 'break'])
    if (way === 'switch') socket.write('HTTP/1.1 101 Go On\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello')
    else if (way === 'refuse') socket.end('HTTP/1.1 400 No\r\n\r\nbye')
    else socket.destroy()
  })
  service.server.on('clientError', (_, socket) => socket.destroy())
  proxy = await startProxy(routes)
  routes.run('i1', service.port)
  routes.run('i2', 9)
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

it('survives a thousand mutated, cut or abandoned requests, and frees their resources', async () => {
  const lanes = Array.from({ length: 20 }, async () => {
    for (let i = 0; i < 50; i++) await abuse()
  })
  await Promise.all(lanes)
  for (const socket of service.accepted) socket.destroy()
  await until('no open connection', () => proxy.ctx.tracker.count === 0)
  let connections: number | undefined
  await until('no connection of a client', () => {
    proxy.server.http.getConnections((_, count) => (connections = count))
    return connections === 0
  })
  expect((await fetch(`${proxy.url}/health`)).status).toBe(200)
})

/** One connection: a request, possibly mutated, cut or followed by more, and ended in one of the ways in which a client can end it. */
async function abuse(): Promise<void> {
  const socket = connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: chance(2) })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => undefined)
  socket.on('data', () => void (chance(10) && socket.pause()))
  let head = randomHead()
  if (chance(6)) head = mutate(head)
  if (chance(4)) head = head.slice(0, below(head.length))
  socket.write(head, 'latin1')
  if (chance(2)) socket.write(pick(['0123456789', '5\r\nhello\r\n0\r\n\r\n', '5\r\nhel', 'zz', 'a'.repeat(200_000)]))
  if (chance(3)) socket.write(randomHead(), 'latin1')
  // Waits some turns of the event loop, so that the end comes at a different point of the request each time.
  for (let turns = below(20); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve))
  if (chance(2)) socket.destroy()
  else resetSocket(socket)
  await closed
}

const HEADERS = [
  'Content-Length: 10',
  'Transfer-Encoding: chunked',
  'Connection: close',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Upgrade: h2c',
  'Expect: 100-continue',
  'E2b-Sandbox-Id: i1',
  'E2b-Sandbox-Port: 49983',
  'TE: trailers',
  'Trailer: x',
  'X: \u00ff\u0000',
  'User-Agent: Mozilla',
  'Host: again',
]

function randomHead(): string {
  const method = pick(['GET', 'POST', 'HEAD', 'PUT', 'OPTIONS', 'DELETE', 'QUERY', 'CONNECT', 'TRACE'])
  const target = pick(['/', '/files?x=1', '*', 'http://49983-i1.x/a', '/%69nit', '/a b', '//', signUrl('i1', { path: '/f' })])
  const host = pick(['49983-i1.x', `${service.port}-i2.x`, 'localhost', '80-i9.x'])
  const headers = HEADERS.filter(() => chance(5))
  return [`${method} ${target} HTTP/${pick(['1.1', '1.1', '1.1', '1.0', '2.0'])}`, `Host: ${host}`, ...headers, '', ''].join('\r\n')
}

function mutate(text: string): string {
  const at = below(text.length)
  return text.slice(0, at) + String.fromCharCode(below(256)) + text.slice(at + below(3))
}

function chance(oneIn: number): boolean {
  return below(oneIn) === 0
}

function pick<T>(choices: readonly [T, ...T[]]): T {
  return choices[below(choices.length)] ?? choices[0]
}
