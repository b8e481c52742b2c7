/** Lets one reader of a queue wait for the next value. */
export class Waiter {
  #wake: (() => void) | undefined

  /** Makes the reader call `take` again, because there may be a value or the queue has ended. */
  wake(): void {
    this.#wake?.()
  }

  /**
   * The result of `take`, which is called now and after every `wake`; `idle` if it has returned `nothing` for the idle time. One call at a time.
   *
   * @param idleMs read each time that `take` has returned `nothing`; undefined waits without a limit
   * @throws errors of `take`
   */
  async next<T>(take: () => T | 'nothing', idleMs: () => number | undefined): Promise<T | 'idle'> {
    const since = performance.now()
    while (true) {
      const taken = take()
      if (taken !== 'nothing') return taken
      const limit = idleMs()
      const left = limit === undefined ? undefined : limit - (performance.now() - since)
      if (left !== undefined && left <= 0) return 'idle'
      await this.#sleep(left)
    }
  }

  async #sleep(timeoutMs: number | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const timer = timeoutMs === undefined ? undefined : setTimeout(resolve, timeoutMs)
    await promise
    clearTimeout(timer)
    this.#wake = undefined
  }
}
