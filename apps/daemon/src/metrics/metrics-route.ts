import type { FastifyInstance } from 'fastify'
import type { DaemonContext } from '../context.ts'
import { sendJson } from '../http/json-reply.ts'
import { CpuUse } from './cpu-use.ts'

/** `GET /metrics` (envd.md 5.3): what the container has and uses, never the host. 500 without a body when the kernel does not tell. */
export function registerMetricsRoute(app: FastifyInstance, { config, log }: DaemonContext): void {
  const cpuUse = new CpuUse()
  app.get('/metrics', async (_request, reply) => {
    reply.header('Cache-Control', 'no-store')
    try {
      const { collectMetrics } = await import('./collect-metrics.ts')
      return sendJson(reply, await collectMetrics(config.controlGroups, cpuUse))
    } catch (err) {
      log.warn({ err }, 'metrics could not be collected')
      return reply.code(500).send()
    }
  })
}
