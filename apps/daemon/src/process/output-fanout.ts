import type { EndEvent } from './end-event.ts'
import { type OutputEvent, Subscription } from './subscription.ts'

/**
 * Gives the output of one process to any number of subscribers: each gets all output from the moment it subscribes. Earlier output is not
 * stored, and output without subscribers is dropped. The slowest subscriber stalls the process (envd.md 8.6).
 */
export class OutputFanout {
  readonly #subscriptions = new Set<Subscription>()
  readonly #onReleased: () => void
  #outputEnded = false
  #end: EndEvent | undefined

  /** @param onReleased is called when `isStalled` may have become false */
  constructor(onReleased: () => void) {
    this.#onReleased = onReleased
  }

  get isStalled(): boolean {
    return this.#subscriptions.values().some((subscription) => subscription.isFull)
  }

  subscribe(): Subscription {
    const subscription = new Subscription({
      released: () => this.#release(),
      remove: (gone) => {
        if (this.#subscriptions.delete(gone)) this.#release()
      },
    })
    if (this.#outputEnded) subscription.outputEnded()
    if (this.#end === undefined) this.#subscriptions.add(subscription)
    else subscription.push({ kind: 'end', end: this.#end })
    return subscription
  }

  publish(event: OutputEvent): void {
    for (const subscription of this.#subscriptions) subscription.push(event)
  }

  endOutput(): void {
    this.#outputEnded = true
    for (const subscription of this.#subscriptions) subscription.outputEnded()
  }

  /** The last event. Later subscribers get only this event. */
  end(end: EndEvent): void {
    this.#end = end
    this.publish({ kind: 'end', end })
    this.#subscriptions.clear()
  }

  #release(): void {
    if (!this.isStalled) this.#onReleased()
  }
}
