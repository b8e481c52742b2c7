import { SingleFlight } from '@sandyard/kit/async/single-flight'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { Guard } from './guard.ts'

export interface GuardKeeperOptions {
  readonly log: Logger
  readonly start: () => Promise<Guard>
  /** Called after a guard that has ended was replaced: nobody has watched the host meanwhile. */
  readonly onReplaced: () => void
}

/** Keeps one guard running. */
export class GuardKeeper implements AsyncDisposable {
  readonly #options: GuardKeeperOptions
  readonly #starts = new SingleFlight<'start', Guard>()
  #guard: Guard | undefined
  #restarts = 0
  #isDisposed = false

  constructor(options: GuardKeeperOptions) {
    this.#options = options
  }

  /** How often a guard that had ended by itself was replaced. */
  get restarts(): number {
    return this.#restarts
  }

  get isDisposed(): boolean {
    return this.#isDisposed
  }

  /** Returns the running guard, and starts it if there is none. */
  async running(): Promise<Guard> {
    if (this.#guard !== undefined && !this.#guard.isLost) return this.#guard
    return this.#starts.run('start', async () => {
      const guard = await this.#options.start()
      if (this.#isDisposed) {
        await guard[Symbol.asyncDispose]()
        throw new AppError('unavailable', 'The runtime is closed.')
      }
      if (this.#guard !== undefined) this.#restarts += 1
      this.#guard = guard
      void guard.lost.then(() => this.#replace(guard))
      return guard
    })
  }

  /** A guard that ends during the work is replaced, and the work is done again, once. */
  async use<T>(work: (guard: Guard) => Promise<T>): Promise<T> {
    const guard = await this.running()
    try {
      return await work(guard)
    } catch (err) {
      if (!guard.isLost || this.#isDisposed) throw err
      this.#options.log.warn({ err }, 'the egress guard ended during a request; a new guard repeats it')
      return work(await this.running())
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    const guard = this.#guard
    this.#guard = undefined
    await guard?.[Symbol.asyncDispose]()
  }

  /** A guard that has ended is replaced at once, because only a guard reports what changes on the host. */
  async #replace(lost: Guard): Promise<void> {
    if (this.#isDisposed || this.#guard !== lost) return
    try {
      await this.running()
      this.#options.onReplaced()
    } catch (err) {
      this.#options.log.error({ err }, 'the egress guard could not be replaced')
    }
  }
}
