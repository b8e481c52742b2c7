import { getHeapStatistics } from 'node:v8'
import underPressure from '@fastify/under-pressure'
import fp from 'fastify-plugin'
import { AppError } from '@sandyard/kit/errors/app-error'

/** Above this share the process spends most of its time in garbage collection. */
const MAX_HEAP_SHARE = 0.9

/** Answers 503 while the server is overloaded, before any work for the request. `/health` is still answered. */
export const pressurePlugin = fp<{ maxEventLoopDelayMs: number }>(
  async (app, { maxEventLoopDelayMs }) => {
    await app.register(underPressure, {
      maxEventLoopDelay: maxEventLoopDelayMs,
      maxHeapUsedBytes: Math.floor(getHeapStatistics().heap_size_limit * MAX_HEAP_SHARE),
      pressureHandler: async (request, _reply, _type, value) => {
        if (request.routeOptions.config.operation?.id === 'getHealth') return
        // An interval without a sample, as after one long turn of the event loop, says nothing.
        if (value === Infinity) return
        throw new AppError('unavailable', 'The server is overloaded: try again', { headers: { 'retry-after': '1' } })
      },
    })
  },
  { name: 'pressure' },
)
