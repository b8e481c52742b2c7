export interface Wait {
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined
  /** Default: it waits as long as it takes. */
  readonly timeoutMs?: number | undefined
  /** The error when it has waited that long. */
  readonly onLate?: (() => Error) | undefined
}

/** What waits for its turn, in the order in which it came. */
export class WaitingLine {
  readonly #waiters = new Set<PromiseWithResolvers<void>>()

  get size(): number {
    return this.#waiters.size
  }

  /** Resolves when `next` has chosen it. @throws the reason of the signal; the error of `onLate`. Neither comes after it was chosen. */
  async wait({ signal, timeoutMs, onLate }: Wait): Promise<void> {
    signal?.throwIfAborted()
    const turn = Promise.withResolvers<void>()
    this.#waiters.add(turn)
    const leave = (why: unknown): void => {
      if (this.#waiters.delete(turn)) turn.reject(why)
    }
    const late = timeoutMs === undefined ? undefined : setTimeout(() => leave(onLate?.() ?? new Error('waited too long')), timeoutMs)
    const onAbort = (): void => leave(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      await turn.promise
    } finally {
      clearTimeout(late)
      signal?.removeEventListener('abort', onAbort)
    }
  }

  /** Lets the first one go on. False when nothing waits. */
  next(): boolean {
    const [first] = this.#waiters
    if (first === undefined) return false
    this.#waiters.delete(first)
    first.resolve()
    return true
  }
}
