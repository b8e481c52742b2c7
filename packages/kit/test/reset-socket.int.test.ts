import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { resetSocket } from '../src/net/reset-socket.ts'

/** A connection whose accepting side never reads, so that a large write stays in the other socket. */
async function stalledConnection(): Promise<{ near: Socket; end: () => void }> {
  const server = createServer({ pauseOnConnect: true })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1')
  near.on('error', () => undefined)
  const [far] = await accepted
  far.on('error', () => undefined)
  return {
    near,
    end: () => {
      far.destroy()
      server.close()
    },
  }
}

it.each([
  ['idle', () => undefined],
  ['full', (socket: Socket) => void socket.write(Buffer.alloc(32_000_000))],
  ['being shut down', (socket: Socket) => void socket.end()],
  ['full and being shut down', (socket: Socket) => void socket.end(Buffer.alloc(32_000_000))],
  ['destroyed', (socket: Socket) => void socket.destroy()],
])('closes a socket that is %s', async (_, prepare) => {
  const { near, end } = await stalledConnection()
  const closed = new Promise((resolve) => near.once('close', resolve))
  prepare(near)
  resetSocket(near)
  await closed
  expect(near.closed).toBe(true)
  end()
})
