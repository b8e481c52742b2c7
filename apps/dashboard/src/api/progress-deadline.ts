/** Ends work that stands still: `onStill` is called once nothing has been heard for `stillMs`. */
export class ProgressDeadline implements Disposable {
  readonly #stillMs: number
  readonly #onStill: () => void
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(stillMs: number, onStill: () => void) {
    this.#stillMs = stillMs
    this.#onStill = onStill
    this.heard()
  }

  /** There was progress. */
  heard(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#onStill, this.#stillMs)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}
