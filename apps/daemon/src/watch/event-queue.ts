import type { AppError } from '@sandyard/kit/errors/app-error'
import { Fifo } from './fifo.ts'
import type { Change } from './watch-event.ts'
import { MAX_BEHIND, queueOverflow } from './watch-failure.ts'

/** The changes that one stream has still to send. Bounded: a client that reads too slowly loses its stream, and nobody else anything. */
export class EventQueue {
  readonly #changes = new Fifo<Change>()
  #failure: AppError | undefined
  #isClosed = false
  #wake: (() => void) | undefined

  /** @throws AppError when it is full */
  push(change: Change): void {
    if (this.#changes.length >= MAX_BEHIND) throw queueOverflow()
    this.#changes.push(change)
    this.#wake?.()
  }

  /** What is in the queue is still given out, then this. */
  fail(error: AppError): void {
    this.#failure ??= error
    this.#wake?.()
  }

  /** Ends the queue at once; `next()` then throws `failure`, or says that there is nothing more. */
  close(failure?: AppError): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#changes.clear()
    this.#failure = failure
    this.#wake?.()
  }

  /** The next change; `idle` when none came for `idleMs`; undefined when the queue is closed. One call at a time. */
  async next(idleMs: number): Promise<Change | 'idle' | undefined> {
    const since = performance.now()
    while (true) {
      const change = this.#changes.shift()
      if (change !== undefined) return change
      if (this.#failure !== undefined) throw this.#failure
      if (this.#isClosed) return undefined
      const left = idleMs - (performance.now() - since)
      if (left <= 0) return 'idle'
      await this.#wakeUp(left)
    }
  }

  async #wakeUp(timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const timer = setTimeout(resolve, timeoutMs)
    await promise
    clearTimeout(timer)
    this.#wake = undefined
  }
}
