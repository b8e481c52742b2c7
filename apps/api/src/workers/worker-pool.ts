import { Worker, type Transferable } from 'node:worker_threads'
import { AppError } from '@sandyard/kit/errors/app-error'
import { FairQueue } from '@sandyard/kit/async/fair-queue'
import type { JobOutcome } from './serve-jobs.ts'

export interface WorkerPoolOptions {
  /** A module that calls `serveJobs`. */
  readonly module: URL
  /** Threads at most. They start when they are needed. */
  readonly width: number
  /** Jobs that may wait for a thread. Default: no cap. An owner has one thread at a time. */
  readonly waiting?: number
  /** Of them, jobs of one owner. Default: no cap. */
  readonly waitingPerOwner?: number
  /** The heap of a thread. One that needs more ends, and its job fails. */
  readonly memoryMib: number
}

export interface JobOptions {
  /** Whose job it is: a team, or a client address where no team is known. */
  readonly owner: string
  readonly timeoutMs: number
  /** The error of a job that is not done after `timeoutMs`. Its thread ends. */
  readonly onTimeout: () => Error
  /** The error of a job whose thread ran out of memory. */
  readonly onOutOfMemory: (cause: unknown) => Error
  /** Buffers that the job may take instead of a copy. */
  readonly transfer?: readonly Transferable[]
}

/** Threads for work that would hold the event loop. A thread does one job at a time and is used again for the next. */
export class WorkerPool<Job, Result> implements AsyncDisposable {
  readonly #options: WorkerPoolOptions
  readonly #queue: FairQueue
  readonly #idle: Worker[] = []
  readonly #all = new Set<Worker>()
  #isDisposed = false

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    const { width, waiting: waitingInAll = Infinity, waitingPerOwner = Infinity } = options
    this.#queue = new FairQueue({ perOwner: 1, inAll: width, waitingPerOwner, waitingInAll, onFull: tooMany })
  }

  /**
   * @throws AppError `resource_exhausted` when too many jobs wait, of the owner or of all; `unavailable` after the pool was disposed; the errors of `onTimeout` and
   * `onOutOfMemory`; the AppError of the job itself. Any other error is a bug or a broken disk, not the fault of the job's input
   */
  async run(job: Job, options: JobOptions): Promise<Result> {
    return this.#queue.run(options.owner, () => this.#run(job, options))
  }

  async #run(job: Job, { timeoutMs, onTimeout, onOutOfMemory, transfer = [] }: JobOptions): Promise<Result> {
    if (this.#isDisposed) throw stopping()
    const worker = this.#idle.pop() ?? this.#start()
    const { promise, resolve, reject } = Promise.withResolvers<JobOutcome<Result>>()
    const onError = (cause: Error & { readonly code?: string }): void =>
      reject(cause.code === 'ERR_WORKER_OUT_OF_MEMORY' ? onOutOfMemory(cause) : cause)
    const onEnd = (code: number): void => reject(this.#isDisposed ? stopping() : new Error(`the thread ended with code ${code}`))
    const deadline = setTimeout(() => reject(onTimeout()), timeoutMs)
    worker.on('message', resolve).on('error', onError).on('exit', onEnd)
    let outcome: JobOutcome<Result>
    try {
      worker.postMessage(job, [...transfer])
      outcome = await promise
      worker.off('message', resolve).off('error', onError).off('exit', onEnd)
    } catch (err) {
      this.#all.delete(worker)
      void worker.terminate()
      throw err
    } finally {
      clearTimeout(deadline)
    }
    this.#idle.push(worker)
    if ('value' in outcome) return outcome.value
    throw new AppError(outcome.kind, outcome.message)
  }

  #start(): Worker {
    const { module, memoryMib } = this.#options
    const worker = new Worker(module, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: memoryMib } })
    // Idle threads do not keep the process alive, and one that ends is replaced by the next job.
    worker.unref()
    worker.on('error', () => this.#forget(worker)).on('exit', () => this.#forget(worker))
    this.#all.add(worker)
    return worker
  }

  #forget(worker: Worker): void {
    this.#all.delete(worker)
    const at = this.#idle.indexOf(worker)
    if (at !== -1) this.#idle.splice(at, 1)
  }

  /** Ends every thread, whatever it does. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    await Promise.all([...this.#all].map((worker) => worker.terminate()))
  }
}

function tooMany(cap: 'owner' | 'all'): AppError {
  const who = cap === 'owner' ? 'This team or client' : 'The server'
  return new AppError('resource_exhausted', `${who} has too many large requests in flight: try again`, { headers: { 'retry-after': '1' } })
}

function stopping(): AppError {
  return new AppError('unavailable', 'The server is stopping: send the request again', { headers: { 'retry-after': '1' } })
}
