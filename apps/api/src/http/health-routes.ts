import { setTimeout as delay } from 'node:timers/promises'
import type { ApiInstance } from './api-instance.ts'
import { operation } from './operation.ts'
import type { AppContext } from '../context.ts'

const CHECK_TIMEOUT_MS = 2000

/** `GET /health`: whether to send requests here (control-plane.md 5.1). `GET /ready`: whether what it stands on answers, too. */
export function registerHealthRoutes(app: ApiInstance, ctx: AppContext): void {
  app.route({
    ...operation('getHealth'),
    handler: async (_request, reply) => {
      if (ctx.isDraining) return reply.code(503).type('text/plain; charset=utf-8').send('Service is unavailable')
      return reply.type('text/plain; charset=utf-8').send('Health check successful')
    },
  })
  app.get('/ready', async (_request, reply) => {
    const [database, runtime] = await Promise.all([answers(ctx.database.ping()), answers(ctx.runtime.list())])
    const isReady = database && runtime && !ctx.isDraining
    return reply.code(isReady ? 200 : 503).send({ ready: isReady, database, runtime, draining: ctx.isDraining })
  })
}

async function answers(check: Promise<unknown>): Promise<boolean> {
  const late = new AbortController()
  try {
    return await Promise.race([check.then(() => true), delay(CHECK_TIMEOUT_MS, false, { signal: late.signal })])
  } catch {
    return false
  } finally {
    late.abort()
  }
}
