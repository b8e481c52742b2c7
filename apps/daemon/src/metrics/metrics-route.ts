import type { FastifyInstance } from 'fastify'
import type { DaemonContext } from '../context.ts'
import { sendJson } from '../http/json-reply.ts'
import { CpuUse } from './cpu-use.ts'
import { KeptFiles } from './kept-files.ts'

/**
 * `GET /metrics` (envd.md 5.3): capacity and use of the container, never of the host, and our own counts of how processes were started. 500
 * without a body if the kernel does not report a value.
 */
export function registerMetricsRoute(app: FastifyInstance, { config, log, starts }: DaemonContext): void {
  const source = { controlGroups: config.controlGroups, files: new KeptFiles(), cpuUse: new CpuUse() }
  app.get('/metrics', async (_request, reply) => {
    reply.header('Cache-Control', 'no-store')
    try {
      const { collectMetrics } = await import('./collect-metrics.ts')
      return sendJson(reply, { ...collectMetrics(source), ...starts.toJson() })
    } catch (err) {
      log.warn({ err }, 'metrics could not be collected')
      return reply.code(500).send()
    }
  })
}
