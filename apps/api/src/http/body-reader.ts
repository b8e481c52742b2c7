import { AppError } from '@sandyard/kit/errors/app-error'
import { WorkerPool } from '../workers/worker-pool.ts'
import { readJson } from './read-json.ts'

/** A body of this size takes a few milliseconds, whatever it contains. Larger ones are parsed by a thread. */
const BODY_ON_MAIN_THREAD_BYTES = 256 * 1024

const THREADS = { width: 1, waiting: 16, waitingPerOwner: 4, memoryMib: 256 }
const TIMEOUT_MS = 10_000

/** Parses JSON bodies without blocking the event loop. */
export class BodyReader implements AsyncDisposable {
  readonly #pool = new WorkerPool<Uint8Array, unknown>({ module: new URL('./body-worker.ts', import.meta.url), ...THREADS })

  /**
   * @param owner - whose body it is: a team, or a client address where no team is known
   * @throws AppError `invalid_argument` for what `readJson` refuses, `resource_exhausted` when too many large bodies wait
   */
  async read(body: Buffer, owner: string): Promise<unknown> {
    if (body.length <= BODY_ON_MAIN_THREAD_BYTES) return readJson(body)
    return this.#pool.run(body, {
      owner,
      timeoutMs: TIMEOUT_MS,
      onTimeout: () => new AppError('invalid_argument', 'it takes too long to read'),
      onOutOfMemory: (cause) => new AppError('invalid_argument', 'it takes too much memory to read', { cause }),
      transfer: [body.buffer as ArrayBuffer],
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool[Symbol.asyncDispose]()
  }
}
