import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A page in Prometheus' text format; a `Registry` of prom-client is one. */
export interface MetricsPage {
  readonly contentType: string
  metrics(): Promise<string>
}

export interface MetricsListener extends AsyncDisposable {
  readonly address: AddressInfo
}

/** Serves `GET /metrics` on a separate port that clients must not reach. The caller listens and closes. */
export function createMetricsServer(page: MetricsPage): Server {
  return createServer(answerMetrics(page))
}

/** Answers `GET /metrics`, and 404 for all else. A page that fails is a 503. */
export function answerMetrics(page: MetricsPage): RequestListener {
  return (request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    page.metrics().then(
      (text) => response.writeHead(200, { 'content-type': page.contentType }).end(text),
      () => response.writeHead(503).end(),
    )
  }
}

/** @throws when the address cannot be listened on */
export async function listenForMetrics(page: MetricsPage, { host, port }: { host: string; port: number }): Promise<MetricsListener> {
  const server = createMetricsServer(page)
  server.listen(port, host)
  await once(server, 'listening')
  return {
    address: server.address() as AddressInfo,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
