import type { FastifyInstance } from 'fastify'
import type { DaemonContext } from '../context.ts'
import { sendJson } from '../http/json-reply.ts'
import { OutOfMemoryWatch } from './out-of-memory.ts'

/**
 * `GET /logs?boot=<run>&after=<number>`: the log entries after a number of a run of the daemon. Ours, for the control plane only: the proxy
 * refuses it to clients.
 */
export function registerLogsRoute(app: FastifyInstance, { config, logs }: DaemonContext): void {
  const memory = new OutOfMemoryWatch(config.controlGroups, logs)
  app.get('/logs', async (request, reply) => {
    await memory.check()
    const { boot, after } = request.query as { readonly boot?: string | string[]; readonly after?: string | string[] }
    const place = Number(after ?? 0)
    return sendJson(reply.header('Cache-Control', 'no-store'), {
      boot: logs.boot,
      entries: logs.after(boot?.toString() ?? '', Number.isSafeInteger(place) ? place : 0),
    })
  })
}
