import type { FastifyInstance } from 'fastify'

/** Longer than between two requests of a client at work. */
const REST_MS = 2000
/** A collection takes some ten milliseconds; less memory is not worth it. */
const WORTH_BYTES = 4 * 1024 * 1024

/**
 * Returns memory to the kernel when the daemon has been idle for a while. Large streams leave tens of megabytes of garbage, and of free memory
 * that the C library keeps; most sandboxes of a host are idle most of the time.
 *
 * @returns a function that reports the end of work other than a response
 */
export function releaseMemoryAtRest(app: FastifyInstance): () => void {
  let rest: NodeJS.Timeout | undefined
  let restingBytes = 0
  async function release(): Promise<void> {
    rest = undefined
    if (process.memoryUsage.rss() < restingBytes + WORTH_BYTES) return
    const [{ loadCLibrary }, { trimMemory }] = await Promise.all([import('../sys/c-library.ts'), import('../sys/own-process.ts')])
    await loadCLibrary()
    // The distribution runs with `--expose-gc`: V8 does not collect while nothing is allocated.
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
    // Health checks and the visits of the control plane are frequent and leave little garbage.
    if (url !== '/health' && url !== '/metrics' && !url.startsWith('/logs')) endWork()
  })
  return endWork
}
