import { createServer, type Server } from 'node:http'
import type { Registry } from 'prom-client'

/** Serves `GET /metrics` on a listener of its own, which operators keep from clients. The caller listens and closes. */
export function createMetricsServer(registry: Registry): Server {
  return createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(503).end(),
    )
  })
}
