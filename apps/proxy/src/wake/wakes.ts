import { FairQueue } from '@sandyard/kit/async/fair-queue'
import { orGivenUp } from '@sandyard/kit/async/within'
import type { WakeAnswer } from './wake-api.ts'

/** Resolves with the answer, or rejects with the reason of the signal. */
type Wake = (sandboxId: string, signal: AbortSignal) => Promise<WakeAnswer>

interface Flight {
  readonly answer: Promise<WakeAnswer>
  readonly left: AbortController
  waiting: number
}

/** Calls to the control plane at once. Those that wait are as many as the requests that wait for them, which have a cap. */
const CALLS = { inAll: 64, perOwner: 48 }

/** A paused sandbox, and its team, which a call counts for. */
interface Paused {
  readonly sandboxId: string
  readonly teamId: string
}

/**
 * One wake in flight for each sandbox, which its requests share. It ends when the last of them has left. Teams take turns: one with many paused sandboxes
 * does not delay the wakes of the others.
 */
export class Wakes {
  readonly #wake: Wake
  readonly #calls = new FairQueue({ ...CALLS, onFull: () => new Error('too many calls wait') })
  readonly #flights = new Map<string, Flight>()

  constructor(wake: Wake) {
    this.#wake = wake
  }

  /** Rejects with the reason of `signal`. */
  async wake({ sandboxId, teamId }: Paused, signal: AbortSignal): Promise<WakeAnswer> {
    const flight = this.#flights.get(sandboxId) ?? this.#start(sandboxId, teamId)
    flight.waiting += 1
    try {
      return await orGivenUp(flight.answer, signal, 0)
    } finally {
      flight.waiting -= 1
      if (flight.waiting === 0) this.#end(sandboxId, flight)
    }
  }

  #start(sandboxId: string, teamId: string): Flight {
    const left = new AbortController()
    const answer = this.#call(sandboxId, teamId, left.signal)
    const flight = { answer, left, waiting: 0 }
    this.#flights.set(sandboxId, flight)
    const settle = (): void => this.#forget(sandboxId, flight)
    answer.then(settle, settle)
    return flight
  }

  async #call(sandboxId: string, teamId: string, signal: AbortSignal): Promise<WakeAnswer> {
    const leave = await this.#calls.enter(teamId, { signal })
    try {
      return await this.#wake(sandboxId, signal)
    } finally {
      leave()
    }
  }

  #end(sandboxId: string, flight: Flight): void {
    flight.left.abort()
    this.#forget(sandboxId, flight)
  }

  #forget(sandboxId: string, flight: Flight): void {
    if (this.#flights.get(sandboxId) === flight) this.#flights.delete(sandboxId)
  }
}
