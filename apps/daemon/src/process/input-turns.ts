import { AppError, isAppError } from '@sandyard/kit/errors/app-error'

/**
 * A queue of writes to one input, in the order of their calls. A process may never read, so a write that still waits is dropped when its
 * caller gives up; a write that has begun continues.
 */
export class InputTurns {
  readonly #waiting = new Set<() => void>()
  #isTaken = false

  /**
   * Runs `write` when all earlier writes have succeeded or failed.
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

  /** Hands the turn directly to the next write in the queue, so that no later call can overtake it. */
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
