import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../errors/app-error.ts'

export interface WithinOptions {
  /** The name of the work, as it reads before "took longer than". */
  readonly what: string
  readonly timeoutMs: number
  /** How long the work may still take after its signal has aborted. Default: no time. */
  readonly graceMs?: number
  readonly signal?: AbortSignal
}

/**
 * Runs `work` under a deadline. At the deadline the wait ends, even if the work ignores its signal.
 *
 * @throws AppError `deadline_exceeded`; the abort reason when `signal` aborts; any error of `work`
 */
export async function within<T>(
  { what, timeoutMs, graceMs = 0, signal }: WithinOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new AppError('deadline_exceeded', `${what} took longer than ${timeoutMs / 1000} s`)), timeoutMs)
  const ending = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal])
  try {
    return await orGivenUp(work(ending), ending, graceMs)
  } finally {
    clearTimeout(timer)
  }
}

/** A reason of its own: without one each call would make an error with its stack. */
const SETTLED = 'settled'

/** Waits for work that has received `signal`, and for `graceMs` more after the signal has aborted. Then it throws the abort reason. */
export async function orGivenUp<T>(running: Promise<T>, signal: AbortSignal, graceMs: number): Promise<T> {
  const settled = new AbortController()
  const givenUp = Promise.withResolvers<never>()
  const giveUp = async (): Promise<void> => {
    await delay(graceMs, undefined, { signal: settled.signal }).catch(() => undefined)
    givenUp.reject(signal.reason as Error)
  }
  const onAbort = (): void => void giveUp()
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  // The promise that loses the race may reject after the wait has ended.
  givenUp.promise.catch(() => undefined)
  try {
    return await Promise.race([running, givenUp.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
    settled.abort(SETTLED)
  }
}

/** The result of a promise, or undefined when it has not settled in time. For work that cannot be ended and whose lateness is no error. */
export async function resultWithin<T>(timeoutMs: number, promise: Promise<T>): Promise<T | undefined> {
  const { promise: expired, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), timeoutMs)
  try {
    return await Promise.race([promise, expired])
  } finally {
    clearTimeout(timer)
  }
}
