import { parentPort } from 'node:worker_threads'
import { isAppError } from '@sandyard/kit/errors/app-error'
import type { ErrorKind } from '@sandyard/kit/errors/kinds'

/** What a thread answers to a job. */
export type JobOutcome<Result> = { readonly value: Result } | { readonly kind: ErrorKind; readonly message: string }

/** Serves the jobs of a `WorkerPool`. Errors that are no AppError end the thread. */
export function serveJobs<Job, Result>(work: (job: Job) => Result | Promise<Result>): void {
  parentPort?.on('message', (job: Job) => void serve(work, job))
}

async function serve<Job, Result>(work: (job: Job) => Result | Promise<Result>, job: Job): Promise<void> {
  const outcome = await attempt(work, job)
  parentPort?.postMessage(outcome)
}

async function attempt<Job, Result>(work: (job: Job) => Result | Promise<Result>, job: Job): Promise<JobOutcome<Result>> {
  try {
    return { value: await work(job) }
  } catch (err) {
    if (!isAppError(err)) throw err
    return { kind: err.kind, message: err.message }
  }
}
