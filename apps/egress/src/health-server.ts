import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerMetrics, type MetricsPage } from '@sandyard/kit/http/metrics-server'

export interface HealthServer extends AsyncDisposable {
  readonly address: AddressInfo
  /** Answers 503 from now on. */
  stopping(): void
}

/** Serves `GET /health` and `GET /metrics`, 404 for all else. @throws when the port is taken */
export async function serveHealth({ host, port }: { host: string; port: number }, page: MetricsPage): Promise<HealthServer> {
  let isStopping = false
  const serveMetrics = answerMetrics(page)
  const server = createServer((req, res) => {
    if (req.url !== '/health' || (req.method !== 'GET' && req.method !== 'HEAD')) {
      serveMetrics(req, res)
      return
    }
    const [status, text] = isStopping ? [503, 'Service is unavailable'] : [200, 'Health check successful']
    res.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' }).end(text)
  })
  server.listen(port, host)
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
