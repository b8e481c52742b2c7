import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface RunningService extends AsyncDisposable {
  readonly server: Server
  readonly port: number
  /** All accepted connections. */
  readonly accepted: Socket[]
}

/** A server on a free loopback port, as a stand-in for one inside a sandbox. */
export async function startService(listener: RequestListener): Promise<RunningService> {
  const server = createServer({ keepAliveTimeout: 640_000, requestTimeout: 0 }, listener)
  const accepted: Socket[] = []
  server.on('connection', (socket) => accepted.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    server,
    port: (server.address() as AddressInfo).port,
    accepted,
    async [Symbol.asyncDispose]() {
      for (const socket of accepted) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
