import { Fifo } from './fifo.ts'

type Job = () => Promise<void> | void

/** Runs jobs one at a time in order. A job starts synchronously if none is running, so a short one needs no turn of the event loop. */
export class SerialQueue {
  readonly #onFailure: (error: unknown) => void
  readonly #jobs = new Fifo<Job>()
  #isRunning = false

  /** @param onFailure receives the error of a job; later jobs run anyway */
  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure
  }

  /** Jobs that wait. */
  get length(): number {
    return this.#jobs.length
  }

  push(job: Job): void {
    this.#jobs.push(job)
    if (!this.#isRunning) void this.#run()
  }

  /** Resolves when every job that was queued before has run. */
  settled(): Promise<void> {
    return new Promise((resolve) => this.push(resolve))
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    for (let job = this.#jobs.shift(); job !== undefined; job = this.#jobs.shift()) {
      try {
        const pending = job()
        if (pending !== undefined) await pending
      } catch (error) {
        this.#onFailure(error)
      }
    }
    this.#isRunning = false
  }
}
