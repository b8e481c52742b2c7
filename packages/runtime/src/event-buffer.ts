import type { RuntimeEvent } from './types.ts'

/** The cap of unread events. Ten thousand sandboxes may end in one second. */
export const MAX_UNREAD_EVENTS = 1000

/**
 * Accepts events at any rate and returns them to one reader. The number of unread events is capped. Over the cap the buffer drops all
 * unread events and ends, so that the reader lists all sandboxes and subscribes again.
 */
export class EventBuffer implements AsyncIterable<RuntimeEvent> {
  readonly #max: number
  readonly #onEnd: () => void
  readonly #unread: RuntimeEvent[] = []
  #hasEnded = false
  #wake = Promise.withResolvers<void>()

  /** `onEnd` is called once, when the buffer has ended for any reason. */
  constructor(onEnd: () => void, max: number = MAX_UNREAD_EVENTS) {
    this.#onEnd = onEnd
    this.#max = max
  }

  add(event: RuntimeEvent): void {
    if (this.#hasEnded) return
    this.#unread.push(event)
    if (this.#unread.length > this.#max) this.abort()
    this.#wake.resolve()
  }

  /** Ends the buffer. The reader still gets the events that were added before. */
  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#wake.resolve()
    this.#onEnd()
  }

  /** Ends the buffer and drops the unread events. */
  abort(): void {
    this.#unread.length = 0
    this.end()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RuntimeEvent> {
    try {
      while (true) {
        const event = this.#unread.shift()
        if (event !== undefined) yield event
        else if (this.#hasEnded) return
        else {
          this.#wake = Promise.withResolvers<void>()
          await this.#wake.promise
        }
      }
    } finally {
      this.abort()
    }
  }
}
