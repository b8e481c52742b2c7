import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Watched, WatchOrder } from './watch-worker.ts'

/** Sends the requests of a neighbour and samples the memory of processes, in a separate thread, so that the attacks do not delay it. */
export class Watch implements AsyncDisposable {
  readonly #worker: Worker

  constructor(order: WatchOrder) {
    this.#worker = new Worker(new URL('watch-worker.ts', import.meta.url), { workerData: order })
  }

  async during<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly watched: Watched }> {
    this.#tell('start')
    let result: T
    try {
      result = await work()
    } finally {
      this.#tell('stop')
    }
    const [watched] = (await once(this.#worker, 'message')) as [Watched]
    return { result, watched }
  }

  #tell(order: 'start' | 'stop'): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker.postMessage(order)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate()
  }
}
