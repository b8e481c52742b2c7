import type { ApiInstance } from './api-instance.ts'
import { operation } from './operation.ts'
import type { AppContext } from '../context.ts'

/** `GET /health`: the server accepts requests (control-plane.md 5.1). `GET /ready`: the database and the engine answer as well. */
export function registerHealthRoutes(app: ApiInstance, ctx: AppContext): void {
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
    if (ctx.drain.isDraining) return reply.code(503).send({ ready: false, draining: true })
    const state = await ctx.ready.check()
    return reply.code(state.ready ? 200 : 503).send({ ...state, draining: false })
  })
}
