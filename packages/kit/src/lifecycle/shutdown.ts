import { resultWithin } from '../async/within.ts'
import type { Logger } from '../logging/create-logger.ts'

interface Phase {
  readonly name: string
  readonly run: () => Promise<void>
  readonly timeoutMs: number
}

export interface PhaseOptions {
  /** How long the phase may take. Default: 20 s. */
  readonly timeoutMs?: number
}

const DEFAULT_TIMEOUT_MS = 20_000

/**
 * Stops the parts of a process in the reverse order of their start: the last added phase runs first. Each phase has its own time
 * limit, so a phase that hangs does not block the others. A second call joins the first one.
 */
export class Shutdown implements AsyncDisposable {
  readonly #phases: Phase[] = []
  readonly #log: Logger
  readonly #defaultTimeoutMs: number
  #done: Promise<void> | undefined

  constructor(log: Logger, defaultTimeoutMs = DEFAULT_TIMEOUT_MS) {
    this.#log = log
    this.#defaultTimeoutMs = defaultTimeoutMs
  }

  add(name: string, run: () => unknown, { timeoutMs = this.#defaultTimeoutMs }: PhaseOptions = {}): void {
    this.#phases.push({ name, run: async () => void (await run()), timeoutMs })
  }

  run(): Promise<void> {
    this.#done ??= this.#runPhases()
    return this.#done
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.run()
  }

  async #runPhases(): Promise<void> {
    for (const { name, run, timeoutMs } of this.#phases.toReversed()) {
      try {
        const outcome = await resultWithin(
          timeoutMs,
          run().then(() => 'done' as const),
        )
        if (outcome === undefined) this.#log.warn({ phase: name, ms: timeoutMs }, 'shutdown phase took too long')
      } catch (err) {
        this.#log.error({ err, phase: name }, 'shutdown phase failed')
      }
    }
  }
}
