import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import fp from 'fastify-plugin'
import { AppError } from '@sandyard/kit/errors/app-error'
import { EVENT_LOOP_RESOLUTION_MS } from '@sandyard/kit/metrics/event-loop-resolution'

/** Above this share the process spends most of its time in garbage collection. */
const MAX_HEAP_SHARE = 0.9
const SAMPLE_EVERY_MS = 1000

/**
 * Answers 503 while the server is overloaded, before any work for the request. `/health` is still answered.
 *
 * Not `@fastify/under-pressure`: its timer calls `process.memoryUsage()`, which opens a file, and so ends a process without free descriptors.
 */
export const pressurePlugin = fp<{ maxEventLoopDelayMs: number }>(
  async (app, { maxEventLoopDelayMs }) => {
    const delays = monitorEventLoopDelay({ resolution: EVENT_LOOP_RESOLUTION_MS })
    delays.enable()
    let isOverloaded = false
    const sample = setInterval(() => {
      // Not a number after an interval without a sample, as after one long turn of the event loop: that says nothing.
      const delayMs = delays.mean / 1e6 - EVENT_LOOP_RESOLUTION_MS
      delays.reset()
      const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
      isOverloaded = delayMs > maxEventLoopDelayMs || used > limit * MAX_HEAP_SHARE
    }, SAMPLE_EVERY_MS).unref()
    app.addHook('onClose', async () => {
      clearInterval(sample)
      delays.disable()
    })
    app.addHook('onRequest', async (request) => {
      if (!isOverloaded || request.routeOptions.config.operation?.id === 'getHealth') return
      throw new AppError('unavailable', 'The server is overloaded: try again', { headers: { 'retry-after': '1' } })
    })
  },
  { name: 'pressure' },
)
