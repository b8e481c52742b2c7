import { AppError } from '@sandyard/kit/errors/app-error'

const MAX_WAITING = 100

/** One holder at a time; the others wait in order. */
export class Turns {
  readonly #waiting = new Set<() => void>()
  #isTaken = false

  /**
   * Waits for the turn and returns what gives it back.
   *
   * @throws AppError `resource_exhausted` when too many wait; the abort reason when `signal` aborts before the turn comes
   */
  async take(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#isTaken) {
      if (this.#waiting.size >= MAX_WAITING) throw new AppError('resource_exhausted', `${MAX_WAITING} cells wait for this context already`)
      await this.#wait(signal)
    }
    this.#isTaken = true
    return () => this.#giveBack()
  }

  #giveBack(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#isTaken = false
    else {
      this.#waiting.delete(next)
      next()
    }
  }

  async #wait(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>()
    const next = (): void => resolve(undefined)
    const leave = (): void => {
      if (this.#waiting.delete(next)) reject(signal?.reason as Error)
    }
    this.#waiting.add(next)
    signal?.addEventListener('abort', leave, { once: true })
    try {
      await promise
    } finally {
      signal?.removeEventListener('abort', leave)
    }
  }
}
