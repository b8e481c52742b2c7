/** A wait for the next change of one sandbox; it counts changes from its creation on. */
export interface ChangeWait extends Disposable {
  /** Resolves at a change, or after `timeoutMs`. Rejects with the reason of the signal. */
  changed(timeoutMs: number, signal: AbortSignal): Promise<void>
}

/** Lets requests wait until a sandbox changes. */
export class RouteChanges {
  readonly #waiting = new Map<string, Set<() => void>>()

  watch(sandboxId: string): ChangeWait {
    const change = Promise.withResolvers<void>()
    const waiting = this.#waiting.get(sandboxId) ?? new Set()
    this.#waiting.set(sandboxId, waiting.add(change.resolve))
    return {
      async changed(timeoutMs, signal) {
        const abort = (): void => change.reject(signal.reason as Error)
        const timer = setTimeout(change.resolve, timeoutMs)
        signal.addEventListener('abort', abort)
        try {
          signal.throwIfAborted()
          await change.promise
        } finally {
          clearTimeout(timer)
          signal.removeEventListener('abort', abort)
        }
      },
      [Symbol.dispose]: () => {
        waiting.delete(change.resolve)
        if (waiting.size === 0 && this.#waiting.get(sandboxId) === waiting) this.#waiting.delete(sandboxId)
      },
    }
  }

  /** A sandbox has changed. */
  forget(sandboxId: string): void {
    for (const resolve of this.#waiting.get(sandboxId) ?? []) resolve()
  }

  /** Any sandbox may have changed. */
  forgetAll(): void {
    for (const waiting of this.#waiting.values()) for (const resolve of waiting) resolve()
  }
}
