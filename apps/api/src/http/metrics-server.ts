import { createServer, type Server } from 'node:http'

/** A page in Prometheus' text format; a `Registry` is one. */
export interface MetricsPage {
  readonly contentType: string
  metrics(): Promise<string>
}

/** Serves `GET /metrics` on a separate port that clients must not reach. The caller listens and closes. */
export function createMetricsServer(page: MetricsPage): Server {
  return createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    page.metrics().then(
      (text) => response.writeHead(200, { 'content-type': page.contentType }).end(text),
      () => response.writeHead(503).end(),
    )
  })
}
