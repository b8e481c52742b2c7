import type { Logger } from '../logging/create-logger.ts'

interface Phase {
  readonly name: string
  readonly run: () => Promise<void>
}

/**
 * Ends a process in the reverse order of its start: what was added last stops first. Each phase has its own
 * time limit, so that one that hangs cannot keep the others from running. Calling it twice is one shutdown.
 */
export class Shutdown implements AsyncDisposable {
  readonly #phases: Phase[] = []
  readonly #log: Logger
  readonly #phaseTimeoutMs: number
  #done: Promise<void> | undefined

  constructor(log: Logger, phaseTimeoutMs = 20_000) {
    this.#log = log
    this.#phaseTimeoutMs = phaseTimeoutMs
  }

  add(name: string, run: () => unknown): void {
    this.#phases.push({ name, run: async () => void (await run()) })
  }

  run(): Promise<void> {
    this.#done ??= this.#runPhases()
    return this.#done
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.run()
  }

  async #runPhases(): Promise<void> {
    for (const phase of this.#phases.toReversed()) {
      const { promise: expired, resolve } = Promise.withResolvers<'expired'>()
      const timer = setTimeout(() => resolve('expired'), this.#phaseTimeoutMs)
      try {
        const outcome = await Promise.race([phase.run().then(() => 'done' as const), expired])
        if (outcome === 'expired') this.#log.warn({ phase: phase.name, ms: this.#phaseTimeoutMs }, 'shutdown phase took too long')
      } catch (err) {
        this.#log.error({ err, phase: phase.name }, 'shutdown phase failed')
      } finally {
        clearTimeout(timer)
      }
    }
  }
}
