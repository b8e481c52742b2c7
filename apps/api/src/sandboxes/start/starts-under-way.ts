import { AppError } from '@sandyard/kit/errors/app-error'
import type { SandboxRef } from '@sandyard/runtime/types'
import { keyOf } from '../repair/repairs.ts'

/**
 * The starts of this server in flight. A start is aborted when its sandbox ends: another sandbox may get the same address, and must not get
 * the token and environment of this one.
 */
export class StartsUnderWay {
  /** By the start of the sandbox: a create that replaces a parked sandbox goes on under the same id. */
  readonly #starts = new Map<string, AbortController>()

  get count(): number {
    return this.#starts.size
  }

  /** Runs a start with a signal that aborts when the sandbox ends. */
  async run<T>(ref: SandboxRef, start: (ended: AbortSignal) => Promise<T>): Promise<T> {
    const ending = new AbortController()
    this.#starts.set(keyOf(ref), ending)
    try {
      return await start(ending.signal)
    } finally {
      this.#starts.delete(keyOf(ref))
    }
  }

  /** The runtime reported the end of the sandbox. */
  abort(ref: SandboxRef): void {
    this.#starts.get(keyOf(ref))?.abort(new AppError('internal', 'The sandbox ended while it started.'))
  }
}
