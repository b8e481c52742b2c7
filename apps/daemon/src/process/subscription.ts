import { Waiter } from '../streams/waiter.ts'
import type { EndEvent } from './end-event.ts'

export type OutputEvent =
  | { readonly kind: 'stdout' | 'stderr' | 'pty'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'end'; readonly end: EndEvent }

export interface SubscriptionOwner {
  /** The subscription can take more events, or was closed. */
  released(): void
  remove(subscription: Subscription): void
}

/** How many unread bytes a subscriber may have before it stalls the process. */
const MAX_QUEUED_BYTES = 256 * 1024
/** Memory of an event in addition to its bytes, which counts if a program writes single bytes. */
const EVENT_BYTES = 512

/**
 * One stream's view of a process's output, from the moment of subscribing (envd.md 8.6). Never loses an event: a subscriber that does not
 * take its events stalls the process until it takes them or is closed.
 */
export class Subscription {
  readonly #owner: SubscriptionOwner
  readonly #queue: OutputEvent[] = []
  readonly #reader = new Waiter()
  #queuedBytes = 0
  #outputEnded = false
  #closed = false
  #failure: Error | undefined

  constructor(owner: SubscriptionOwner) {
    this.#owner = owner
  }

  get isFull(): boolean {
    return this.#queuedBytes >= MAX_QUEUED_BYTES
  }

  push(event: OutputEvent): void {
    this.#queue.push(event)
    if (event.kind !== 'end') this.#queuedBytes += EVENT_BYTES + event.bytes.length
    this.#reader.wake()
  }

  /** The output has ended. No keepalives are sent from now on (envd.md 6.7). */
  outputEnded(): void {
    this.#outputEnded = true
    this.#reader.wake()
  }

  /** Ends the subscription at once; `next()` then throws `failure`, or reports the end without one. */
  close(failure?: Error): void {
    if (this.#closed) return
    this.#closed = true
    this.#failure = failure
    this.#queue.length = 0
    this.#queuedBytes = 0
    this.#owner.remove(this)
    this.#reader.wake()
  }

  /** The next event; `idle` when none came for `idleMs`; undefined when the subscription is closed. One call at a time. */
  next(idleMs: number): Promise<OutputEvent | 'idle' | undefined> {
    return this.#reader.next(this.#take, () => (this.#outputEnded ? undefined : idleMs))
  }

  readonly #take = (): OutputEvent | 'nothing' | undefined => {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#closed) return undefined
    const event = this.#queue.shift()
    return event === undefined ? 'nothing' : this.#taken(event)
  }

  #taken(event: OutputEvent): OutputEvent {
    if (event.kind === 'end') return event
    const wasFull = this.isFull
    this.#queuedBytes -= EVENT_BYTES + event.bytes.length
    if (wasFull && !this.isFull) this.#owner.released()
    return event
  }
}
