import type { ApiInstance } from './api-instance.ts'
import { operation } from './operation.ts'
import type { AppContext } from '../context.ts'
import { RememberedCheck, type CheckLimits } from './remembered-check.ts'

/** The routes need no key, so any number of requests may cost only one check a second. */
const LIMITS: CheckLimits = { rememberMs: 1000, timeoutMs: 2000 }

/** `GET /health`: the server accepts requests (control-plane.md 5.1). `GET /ready`: the database and the engine answer as well. */
export function registerHealthRoutes(app: ApiInstance, ctx: AppContext): void {
  const databaseCheck = new RememberedCheck(() => ctx.database.ping(), LIMITS)
  const runtimeCheck = new RememberedCheck((signal) => ctx.runtime.ping(signal), LIMITS)
  const health = operation('getHealth')
  app.route({
    ...health,
    config: { ...health.config, isHealthCheck: true },
    handler: async (_request, reply) => {
      if (ctx.drain.isDraining) return reply.code(503).type('text/plain; charset=utf-8').send('Service is unavailable')
      return reply.type('text/plain; charset=utf-8').send('Health check successful')
    },
  })
  app.get('/ready', { config: { isHealthCheck: true } }, async (_request, reply) => {
    // The database and the runtime are being closed.
    if (ctx.drain.isDraining) return reply.code(503).send({ ready: false, draining: true })
    const [database, runtime] = await Promise.all([databaseCheck.passes(), runtimeCheck.passes()])
    const isReady = database && runtime
    return reply.code(isReady ? 200 : 503).send({ ready: isReady, database, runtime, draining: false })
  })
}
