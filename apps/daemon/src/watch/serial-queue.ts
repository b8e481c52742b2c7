import { Fifo } from './fifo.ts'

type Job = () => Promise<void> | void

/** Runs jobs one after the other in their order: at once where none is under way, so that a short job costs no turn of the event loop. */
export class SerialQueue {
  readonly #onFailure: (error: unknown) => void
  readonly #jobs = new Fifo<Job>()
  #isRunning = false

  /** @param onFailure is told what a job throws; those after it are run all the same */
  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure
  }

  /** Of jobs that wait. */
  get length(): number {
    return this.#jobs.length
  }

  push(job: Job): void {
    this.#jobs.push(job)
    if (!this.#isRunning) void this.#run()
  }

  /** Settles when every job that is in the queue by now has been run. */
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
