import { getHeapStatistics } from 'node:v8'
import underPressure from '@fastify/under-pressure'
import fp from 'fastify-plugin'
import { AppError } from '@sandyard/kit/errors/app-error'

/** A heap that is fuller than that is collected more than it is used. */
const MAX_HEAP_SHARE = 0.9

/** Refuses requests while the server is overloaded, before they cost anything. `/health` is answered all the same. */
export const pressurePlugin = fp<{ maxEventLoopDelayMs: number }>(
  async (app, { maxEventLoopDelayMs }) => {
    await app.register(underPressure, {
      maxEventLoopDelay: maxEventLoopDelayMs,
      maxHeapUsedBytes: Math.floor(getHeapStatistics().heap_size_limit * MAX_HEAP_SHARE),
      pressureHandler: async (request, _reply, _type, value) => {
        if (request.routeOptions.config.operation?.id === 'getHealth') return
        // Of an interval without a sample, as after one long turn, nothing is known.
        if (value === Infinity) return
        throw new AppError('unavailable', 'The server is overloaded: try again', { headers: { 'retry-after': '1' } })
      },
    })
  },
  { name: 'pressure' },
)
