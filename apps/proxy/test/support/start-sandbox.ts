import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { connectSockets } from '@sandyard/kit/net/connect-sockets'

/** An address of this machine that represents a sandbox's address: a listener on 127.0.0.1 is not reachable there. */
export const SANDBOX_HOST = '127.0.0.2'

export interface StandInSandbox extends AsyncDisposable {
  readonly daemonPort: number
  /** The `Proxy-Authorization` header of each requested tunnel. */
  readonly asked: string[]
  /** The daemon's answer instead of a tunnel. */
  answer: string | undefined
}

/** A daemon that opens tunnels to 127.0.0.1. */
export async function startSandbox(): Promise<StandInSandbox> {
  const sockets = new Set<Socket>()
  const server = createServer((_, res) => void res.end('daemon'))
  server.on('connection', (socket) => sockets.add(socket))
  server.on('connect', (req, socket: Socket) => {
    socket.on('error', () => undefined)
    sandbox.asked.push(req.headers['proxy-authorization'] ?? '')
    if (sandbox.answer !== undefined) return void socket.end(sandbox.answer)
    const service = connect({ port: Number(req.url?.split(':')[1]), host: '127.0.0.1', allowHalfOpen: true })
    service.once('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'))
    service.once('connect', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      void connectSockets(socket, service)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, SANDBOX_HOST, resolve))
  const sandbox = {
    daemonPort: (server.address() as AddressInfo).port,
    asked: [] as string[],
    answer: undefined as string | undefined,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return sandbox
}
