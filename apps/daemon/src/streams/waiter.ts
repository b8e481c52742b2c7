/** Lets one reader of a queue wait for what comes next. */
export class Waiter {
  #wake: (() => void) | undefined

  /** There may be something, or nothing will come any more: the reader looks again. */
  wake(): void {
    this.#wake?.()
  }

  /**
   * What `take` gives, asked now and after every `wake`; `idle` when it gave `nothing` for so long. One call at a time.
   *
   * @param idleMs asked each time that `take` gave `nothing`; undefined waits without end
   * @throws what `take` throws
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
