import { pollUntil } from '@sandyard/kit/async/poll-until'

const POLL_EVERY_MS = 20

/**
 * The state of a server that is stopping: it reports that it is not ready, refuses new requests and finishes the requests in flight. A
 * start of a sandbox stays in flight after its client has disconnected.
 */
export class Drain {
  readonly #countStarts: () => number
  readonly #listeners: (() => void)[] = []
  #isDraining = false
  #requests = 0

  constructor(countStarts: () => number) {
    this.#countStarts = countStarts
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  get inFlight(): number {
    return this.#requests + this.#countStarts()
  }

  begin(): void {
    if (this.#isDraining) return
    this.#isDraining = true
    for (const listener of this.#listeners) listener()
  }

  /** Called when the drain begins: what is in flight without an end must end then. Must not throw. */
  onBegin(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Counts a request until the returned function is called. */
  enter(): () => void {
    this.#requests += 1
    return () => void (this.#requests -= 1)
  }

  /** Begins the drain and waits until nothing is in flight. False when `timeoutMs` was not enough. */
  async run(timeoutMs: number): Promise<boolean> {
    this.begin()
    const waiting = { what: 'requests in flight', timeoutMs, everyMs: POLL_EVERY_MS }
    return pollUntil(waiting, () => (this.inFlight === 0 ? true : undefined)).catch(() => false)
  }
}
