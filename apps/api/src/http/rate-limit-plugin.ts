import fp from 'fastify-plugin'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { RateLimits } from './rate-limit.ts'
import { TokenBuckets } from './token-bucket.ts'

/** Limits how often a team calls an operation, where a limit is configured (control-plane.md 1.11). Each server counts for itself. */
export const rateLimitPlugin = fp<{ limits: RateLimits }>(
  async (app, { limits }) => {
    if (limits.size === 0) return
    const buckets = new TokenBuckets()
    app.addHook('preHandler', async (request, reply) => {
      const { operation } = request.routeOptions.config
      const limit = operation && limits.get(operation.id)
      const teamId = request.principal?.team?.id
      if (limit === undefined || teamId === undefined) return
      const state = buckets.take(`${teamId} ${operation?.id ?? ''}`, limit)
      void reply.headers({
        'ratelimit-limit': limit.burst,
        'ratelimit-remaining': state.remaining,
        'ratelimit-reset': state.resetSeconds,
      })
      if (state.isAllowed) return
      throw new AppError('resource_exhausted', 'Rate limit exceeded', { headers: { 'retry-after': String(state.retryAfterSeconds) } })
    })
  },
  { name: 'rate-limit', dependencies: ['auth'] },
)
