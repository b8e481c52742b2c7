export interface LullOptions {
  /** How long nothing has to happen. */
  readonly quietMs: number
  /** It is a lull this long after the first disturbance, whatever goes on. */
  readonly longestMs: number
  readonly onLull: () => void
}

/** Waits for a pause in what goes on, for work that would slow it down. */
export class Lull implements Disposable {
  readonly #options: LullOptions
  #disturbedAt: number | undefined
  #timer: NodeJS.Timeout | undefined
  #waiting: (() => void)[] = []

  constructor(options: LullOptions) {
    this.#options = options
  }

  /** Nothing has happened for a while. */
  get isNow(): boolean {
    return this.#timer === undefined
  }

  /** Something happens. */
  disturb(): void {
    const { quietMs, longestMs, onLull } = this.#options
    const now = performance.now()
    this.#disturbedAt ??= now
    clearTimeout(this.#timer)
    const waitMs = Math.max(0, Math.min(quietMs, this.#disturbedAt + longestMs - now))
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#disturbedAt = undefined
      this.#goOn()
      onLull()
    }, waitMs).unref()
  }

  /** Resolves in the next lull, or at the end. */
  async reached(): Promise<void> {
    if (this.isNow) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push(resolve)
    await promise
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#goOn()
  }

  #goOn(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
