import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import { KernelPipe } from '../src/native/kernel-pipe.ts'
import { MemoryRoutes } from './support/memory-routes.ts'
import { RawClient } from './support/raw-client.ts'
import { startProxy } from './support/start-proxy.ts'
import { until } from './support/until.ts'

const HOST = 'Host: 49983-i1.localhost'
const FULL_READ_BYTES = 16 * 1024
const LATER_BYTES = 20_000
const REST_BYTES = 300_000
const EXTRA = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nEXTRA'

afterEach(() => {
  vi.restoreAllMocks()
})

/** A daemon whose requests the test answers, as bytes. */
async function startDaemon(): Promise<{ port: number; asked: { socket: Socket; text: string }[] } & Disposable> {
  const asked: { socket: Socket; text: string }[] = []
  const server = createServer({ noDelay: true }, (socket) => socket.on('data', (bytes) => asked.push({ socket, text: bytes.toString() })))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const close = (): void => {
    server.close()
    for (const { socket } of asked) socket.destroy()
  }
  return { port: (server.address() as AddressInfo).port, asked, [Symbol.dispose]: close }
}

it('closes a connection with bytes behind a body, also when they arrive just before the kernel relays its rest', async () => {
  using daemon = await startDaemon()
  const routes = new MemoryRoutes()
  await using proxy = await startProxy(routes)
  routes.run('i1', daemon.port)
  using first = new RawClient(proxy.port)
  using second = new RawClient(proxy.port)
  await once(second.socket, 'connect')
  first.send(['GET /a HTTP/1.1', HOST])
  await until('the request', () => daemon.asked.length === 1)
  const socket = daemon.asked[0]?.socket
  socket?.write(`HTTP/1.1 200 OK\r\nContent-Length: ${FULL_READ_BYTES + LATER_BYTES + REST_BYTES}\r\n\r\n`)
  await first.until('\r\n\r\n')
  // It fills the memory of a read and nothing is behind it, so the next read has more memory and does not fill it.
  socket?.write(Buffer.alloc(FULL_READ_BYTES, 'x'))
  await until('the first bytes', () => first.received.endsWith('x'.repeat(FULL_READ_BYTES)))
  const fill = vi.spyOn(KernelPipe.prototype, 'fill').mockImplementationOnce(function (this: KernelPipe, from, bytes) {
    socket?.write('x'.repeat(REST_BYTES) + EXTRA)
    return this.fill(from, bytes)
  })
  socket?.write(Buffer.alloc(LATER_BYTES, 'x'))
  second.send(['GET /b HTTP/1.1', HOST])
  await until('the second request', () => second.received !== '' || daemon.asked.length === 2)
  expect(fill).toHaveBeenCalled()
  expect(second.received).toBe('')
  expect(daemon.asked[1]?.socket).not.toBe(socket)
  await until('the whole body', () => first.received.length >= FULL_READ_BYTES + LATER_BYTES + REST_BYTES)
  expect(first.received).not.toContain('EXTRA')
})
