import { AppError } from '@sandyard/kit/errors/app-error'
import type { SandboxRef } from '@sandyard/runtime/types'

/**
 * The starts that this server is at. A sandbox that ends while it starts must not be waited for: its address may be another's the
 * next moment, and what it was to be told is not for that one.
 */
export class StartsUnderWay {
  readonly #starts = new Map<string, AbortController>()

  /** Runs a start with a signal that aborts when the sandbox is said to have ended. */
  async run<T>({ sandboxId }: SandboxRef, start: (ended: AbortSignal) => Promise<T>): Promise<T> {
    const ending = new AbortController()
    this.#starts.set(sandboxId, ending)
    try {
      return await start(ending.signal)
    } finally {
      this.#starts.delete(sandboxId)
    }
  }

  /** The runtime says that the sandbox has ended. */
  abort({ sandboxId }: SandboxRef): void {
    this.#starts.get(sandboxId)?.abort(new AppError('internal', 'The sandbox ended while it started.'))
  }
}
