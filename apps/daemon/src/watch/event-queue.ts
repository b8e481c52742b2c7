import type { AppError } from '@sandyard/kit/errors/app-error'
import { Waiter } from '../streams/waiter.ts'
import type { BacklogShare } from './backlog.ts'
import { Fifo } from './fifo.ts'
import type { Change } from './watch-event.ts'

/** The changes that one stream still has to send. A client that reads too slowly loses its own stream only. */
export class EventQueue {
  readonly #changes = new Fifo<Change>()
  readonly #reader = new Waiter()
  #backlog: BacklogShare | undefined
  #failure: AppError | undefined
  #isClosed = false

  /** @param backlog counts the change until it is taken; always the same one */
  push(change: Change, backlog: BacklogShare): void {
    this.#backlog = backlog
    this.#changes.push(change)
    backlog.add()
    this.#reader.wake()
  }

  /** Closes the queue at once; `next()` then throws `failure` or returns undefined. */
  close(failure?: AppError): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#changes.clear()
    this.#failure = failure
    this.#reader.wake()
  }

  /** The next change; `idle` if none came for `idleMs`; undefined if the queue is closed. One call at a time. */
  next(idleMs: number): Promise<Change | 'idle' | undefined> {
    return this.#reader.next(this.#take, () => idleMs)
  }

  readonly #take = (): Change | 'nothing' | undefined => {
    const change = this.#changes.shift()
    if (change !== undefined) {
      this.#backlog?.remove(1)
      return change
    }
    if (this.#failure !== undefined) throw this.#failure
    return this.#isClosed ? undefined : 'nothing'
  }
}
