import type { FastifyInstance } from 'fastify'

/** Longer than between two requests of a client at work. */
const REST_MS = 2000
/** Less is not worth some ten milliseconds of collecting. */
const WORTH_BYTES = 4 * 1024 * 1024

/**
 * Gives memory back when the daemon has had nothing to answer for a while. Large streams leave tens of megabytes of garbage, and of free
 * memory that the C library holds for later; many sandboxes on a host rest most of the time.
 *
 * @returns tells that something has ended that was no response
 */
export function releaseMemoryAtRest(app: FastifyInstance): () => void {
  let rest: NodeJS.Timeout | undefined
  let restingBytes = 0
  async function release(): Promise<void> {
    rest = undefined
    if (process.memoryUsage.rss() < restingBytes + WORTH_BYTES) return
    const { trimMemory } = await import('../sys/libc.ts')
    // There with `--expose-gc` alone, as in the distribution: the engine itself sees no reason to collect where nothing is asked for.
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    trimMemory()
    restingBytes = process.memoryUsage.rss()
  }
  function endWork(): void {
    if (rest === undefined) rest = setTimeout(() => void release(), REST_MS).unref()
    else rest.refresh()
  }
  app.addHook('onResponse', ({ url }, _reply, done) => {
    done()
    // Probes come all the time and leave nothing.
    if (url !== '/health') endWork()
  })
  return endWork
}
