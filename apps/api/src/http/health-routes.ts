import type { ApiInstance } from './api-instance.ts'
import { operation } from './operation.ts'
import type { AppContext } from '../context.ts'
import { RememberedCheck, type CheckLimits } from './remembered-check.ts'

/** Anyone may ask, without a key: so many questions cost one check a second. */
const LIMITS: CheckLimits = { rememberMs: 1000, timeoutMs: 2000 }

/** `GET /health`: whether to send requests here (control-plane.md 5.1). `GET /ready`: whether the database and the engine answer, too. */
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
    // What it stands on is being closed, so it is not asked.
    if (ctx.drain.isDraining) return reply.code(503).send({ ready: false, draining: true })
    const [database, runtime] = await Promise.all([databaseCheck.passes(), runtimeCheck.passes()])
    const isReady = database && runtime
    return reply.code(isReady ? 200 : 503).send({ ready: isReady, database, runtime, draining: false })
  })
}
