import pLimit from 'p-limit'
import { orGivenUp } from '@sandyard/kit/async/within'
import type { WakeAnswer } from './wake-api.ts'

/** Resolves with the answer, or rejects with the reason of the signal. */
type Wake = (sandboxId: string, signal: AbortSignal) => Promise<WakeAnswer>

interface Flight {
  readonly answer: Promise<WakeAnswer>
  readonly left: AbortController
  waiting: number
}

/** Calls to the control plane at once. */
const MAX_CALLS = 64

/** One wake in flight for each sandbox, which its requests share. It ends when the last of them has left. */
export class Wakes {
  readonly #wake: Wake
  readonly #calls = pLimit(MAX_CALLS)
  readonly #flights = new Map<string, Flight>()

  constructor(wake: Wake) {
    this.#wake = wake
  }

  /** Rejects with the reason of `signal`. */
  async wake(sandboxId: string, signal: AbortSignal): Promise<WakeAnswer> {
    const flight = this.#flights.get(sandboxId) ?? this.#start(sandboxId)
    flight.waiting += 1
    try {
      return await orGivenUp(flight.answer, signal, 0)
    } finally {
      flight.waiting -= 1
      if (flight.waiting === 0) this.#end(sandboxId, flight)
    }
  }

  #start(sandboxId: string): Flight {
    const left = new AbortController()
    const answer = this.#calls(() => {
      left.signal.throwIfAborted()
      return this.#wake(sandboxId, left.signal)
    })
    const flight = { answer, left, waiting: 0 }
    this.#flights.set(sandboxId, flight)
    const settle = (): void => this.#forget(sandboxId, flight)
    answer.then(settle, settle)
    return flight
  }

  #end(sandboxId: string, flight: Flight): void {
    flight.left.abort()
    this.#forget(sandboxId, flight)
  }

  #forget(sandboxId: string, flight: Flight): void {
    if (this.#flights.get(sandboxId) === flight) this.#flights.delete(sandboxId)
  }
}
