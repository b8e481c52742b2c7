import type { EndEvent } from './end-event.ts'
import { type OutputEvent, Subscription } from './subscription.ts'

/**
 * Hands the output of one process to any number of subscribers, all of it to each of them from the moment it subscribes. Nothing is kept
 * for later ones, and without any the output is dropped. The slowest one sets the pace (envd.md 8.6).
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

  /** The last event; later subscribers get it alone. */
  end(end: EndEvent): void {
    this.#end = end
    this.publish({ kind: 'end', end })
    this.#subscriptions.clear()
  }

  #release(): void {
    if (!this.isStalled) this.#onReleased()
  }
}
