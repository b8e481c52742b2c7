import fp from 'fastify-plugin'
import type { ApiMetrics } from '../metrics/api-metrics.ts'

/** Logs one line and records one measurement for each request, without bodies and headers. */
export const requestLogPlugin = fp<{ metrics: ApiMetrics }>(
  async (app, { metrics }) => {
    app.addHook('onResponse', async (request, reply) => {
      const operation = request.routeOptions.config.operation?.id ?? 'none'
      const { statusCode, elapsedTime } = reply
      metrics.requests.observe({ operation, status: String(statusCode) }, elapsedTime / 1000)
      const { team, via } = request.principal ?? {}
      request.log.info(
        {
          operation,
          method: request.method,
          route: request.routeOptions.url,
          status: statusCode,
          ms: Math.round(elapsedTime),
          via,
          teamId: team?.id,
        },
        'request',
      )
    })
  },
  { name: 'request-log' },
)
