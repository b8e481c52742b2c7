import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../errors/app-error.ts'

export interface PollOptions {
  /** The condition, as it reads after "timed out waiting for". */
  readonly what: string
  readonly timeoutMs: number
  readonly everyMs: number
  /** The pauses grow by a third up to this. Default: they do not grow. */
  readonly mostMs?: number
  readonly signal?: AbortSignal
}

/**
 * Calls `probe` until it returns something other than `undefined`, and returns that.
 *
 * @throws AppError `deadline_exceeded` after `timeoutMs`; the abort reason when `signal` aborts; any error of `probe`
 */
export async function pollUntil<T>(options: PollOptions, probe: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const { what, timeoutMs, everyMs, mostMs = everyMs, signal } = options
  const deadline = performance.now() + timeoutMs
  let pauseMs = everyMs
  while (true) {
    signal?.throwIfAborted()
    const value = await probe()
    if (value !== undefined) return value
    if (performance.now() >= deadline) throw new AppError('deadline_exceeded', `timed out waiting for ${what}`)
    await delay(pauseMs, undefined, signal === undefined ? {} : { signal })
    pauseMs = Math.min((pauseMs * 4) / 3, mostMs)
  }
}
