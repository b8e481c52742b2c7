import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const LOOPBACK = '127.0.0.1'

export interface HealthServer extends AsyncDisposable {
  readonly address: AddressInfo
  /** Answers 503 from now on. */
  stopping(): void
}

/** Serves `GET /health` on a loopback port. @throws when the port is taken */
export async function serveHealth(port: number): Promise<HealthServer> {
  let isStopping = false
  const server = createServer((req, res) => {
    if (req.url !== '/health' || (req.method !== 'GET' && req.method !== 'HEAD')) {
      res.writeHead(404).end()
      return
    }
    const [status, text] = isStopping ? [503, 'Service is unavailable'] : [200, 'Health check successful']
    res.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' }).end(text)
  })
  server.listen(port, LOOPBACK)
  await once(server, 'listening')
  return {
    address: server.address() as AddressInfo,
    stopping: () => {
      isStopping = true
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
