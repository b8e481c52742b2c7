import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MemoryRoutes } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { startProxy, type RunningProxy } from './support/start-proxy.ts'
import { until } from './support/until.ts'

const COUNT = 20_000
const BODY = `${'1\r\nx\r\n'.repeat(COUNT)}0\r\n\r\n`
const routes = new MemoryRoutes()
let proxy: RunningProxy
let service: Server
let port: number
let received = ''

beforeAll(async () => {
  service = createServer((socket: Socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
      if (!received.endsWith('\r\n\r\n')) return
      socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${BODY}`)
    })
  })
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
  port = (service.address() as AddressInfo).port
  proxy = await startProxy(routes)
  routes.run('i1', port)
  routes.run('i2', 9)
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  service.close()
})

const chunksOf = (text: string): number => text.match(/(?:^|\r\n)[0-9a-f]+\r\nx/g)?.length ?? 0
const bytesOf = (text: string): number => text.slice(text.indexOf('\r\n\r\n')).match(/x/g)?.length ?? 0

// Each chunk that is passed on by itself costs the proxy a write: a read of them would keep it from its other connections.
describe.each([
  ['plain', []],
  ['by Node', ['Keep-Alive: 1']],
])('tiny chunks are passed on together, %s', (_, extra) => {
  it.each([
    ['the daemon', () => '49983-i1.x'],
    ['another port', () => `${port}-i2.x`],
  ])('to %s and from it', async (_name, host) => {
    received = ''
    using client = new RawClient(proxy.port)
    client.send(['POST / HTTP/1.1', `Host: ${host()}`, 'Transfer-Encoding: chunked', ...extra], BODY)
    await client.until('0\r\n\r\n')
    await until('the request', () => received.endsWith('0\r\n\r\n'))
    for (const text of [received, client.received]) {
      expect(bytesOf(text)).toBe(COUNT)
      expect(chunksOf(text)).toBeGreaterThan(0)
      expect(chunksOf(text)).toBeLessThan(COUNT / 100)
    }
  })
})
