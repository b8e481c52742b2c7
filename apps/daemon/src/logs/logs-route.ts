import type { FastifyInstance } from 'fastify'
import type { DaemonContext } from '../context.ts'
import { sendJson } from '../http/json-reply.ts'
import { CpuUse } from '../metrics/cpu-use.ts'
import { KeptFiles } from '../metrics/kept-files.ts'
import { OutOfMemoryWatch } from './out-of-memory.ts'

type Value = string | string[] | undefined

/**
 * `GET /logs?boot=<run>&after=<number>&metrics=true`: the log entries after a number of a run of the daemon and, if asked for, what `/metrics`
 * answers, so that a visit is one request. Ours, for the control plane only: the proxy refuses it to clients.
 */
export function registerLogsRoute(app: FastifyInstance, { config, log, logs, starts }: DaemonContext): void {
  const files = new KeptFiles()
  const memory = new OutOfMemoryWatch(config.controlGroups, logs, files)
  // Calls of clients to `/metrics` do not shorten the time that this one covers.
  const source = { controlGroups: config.controlGroups, files, cpuUse: new CpuUse() }
  const readMetrics = async (): Promise<object | undefined> => {
    try {
      const { collectMetrics } = await import('../metrics/collect-metrics.ts')
      return { ...collectMetrics(source), ...starts.toJson() }
    } catch (err) {
      log.warn({ err }, 'metrics could not be collected')
      return undefined
    }
  }
  app.get('/logs', async (request, reply) => {
    memory.check()
    const { boot, after, metrics } = request.query as { readonly boot: Value; readonly after: Value; readonly metrics: Value }
    const place = Number(after ?? 0)
    return sendJson(reply.header('Cache-Control', 'no-store'), {
      boot: logs.boot,
      entries: logs.after(boot?.toString() ?? '', Number.isSafeInteger(place) ? place : 0),
      ...(metrics === 'true' && { metrics: await readMetrics() }),
    })
  })
}
