import { AppError, isAppError } from '@sandyard/kit/errors/app-error'

/**
 * Gives those who write to one input their turns, in the order in which they came. A process may never read, so whoever goes while waiting
 * is forgotten with all that it would have written; what was begun goes on.
 */
export class InputTurns {
  readonly #waiting = new Set<() => void>()
  #isTaken = false

  /**
   * Runs `write` when all before it have ended, however they did.
   *
   * @throws the AppError that `signal` aborted with before that, or one of `canceled`
   */
  async run(write: () => Promise<void>, signal: AbortSignal): Promise<void> {
    if (this.#isTaken) await this.#turn(signal)
    this.#isTaken = true
    try {
      await write()
    } finally {
      this.#next()
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = (): void => {
        this.#waiting.delete(begin)
        reject(isAppError(signal.reason) ? signal.reason : new AppError('canceled', 'context canceled'))
      }
      if (signal.aborted) return giveUp()
      this.#waiting.add(begin)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  /** The turn goes from one to the next without a moment in which somebody else could take it. */
  #next(): void {
    const [begin] = this.#waiting
    if (begin === undefined) {
      this.#isTaken = false
      return
    }
    this.#waiting.delete(begin)
    begin()
  }
}
