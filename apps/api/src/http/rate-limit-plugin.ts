import fp from 'fastify-plugin'
import type { RequestLimits } from './rate-limit.ts'

/** Limits how often an operation is called, where a limit is configured. Requests with refused credentials are counted by `authPlugin`. */
export const rateLimitPlugin = fp<{ limits: RequestLimits }>(
  async (app, { limits }) => {
    app.addHook('preHandler', async (request, reply) => limits.count(request, reply))
  },
  { name: 'rate-limit', dependencies: ['auth'] },
)
