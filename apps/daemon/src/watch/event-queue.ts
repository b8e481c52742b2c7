import type { AppError } from '@sandyard/kit/errors/app-error'
import { Waiter } from '../streams/waiter.ts'
import type { BacklogShare } from './backlog.ts'
import { Fifo } from './fifo.ts'
import type { Change } from './watch-event.ts'

/** The changes that one stream has still to send. A client that reads too slowly loses its stream, and nobody else anything. */
export class EventQueue {
  readonly #changes = new Fifo<Change>()
  readonly #reader = new Waiter()
  #backlog: BacklogShare | undefined
  #failure: AppError | undefined
  #isClosed = false

  /** @param backlog where the change counts until it is given out; the same one each time */
  push(change: Change, backlog: BacklogShare): void {
    this.#backlog = backlog
    this.#changes.push(change)
    backlog.add()
    this.#reader.wake()
  }

  /** Ends the queue at once; `next()` then throws `failure`, or says that there is nothing more. */
  close(failure?: AppError): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#changes.clear()
    this.#failure = failure
    this.#reader.wake()
  }

  /** The next change; `idle` when none came for `idleMs`; undefined when the queue is closed. One call at a time. */
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
