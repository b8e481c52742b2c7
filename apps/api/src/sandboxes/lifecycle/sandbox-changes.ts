import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '@sandyard/kit/errors/app-error'

/** A missed notification delays a waiting request by this much. */
const LOOK_EVERY_MS = 500

export interface UntilOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** Lets requests wait until another request or another server has finished a transition of the same sandbox. */
export class SandboxChanges {
  readonly #waiting = new Map<string, Set<EventTarget>>()

  /** The sandbox changed. */
  notify(sandboxId: string): void {
    for (const waiter of this.#waiting.get(sandboxId) ?? []) waiter.dispatchEvent(new Event('change'))
  }

  /** Any sandbox may have changed: notifications were lost. */
  notifyAll(): void {
    for (const sandboxId of this.#waiting.keys()) this.notify(sandboxId)
  }

  /**
   * Calls `look` now and after every change of the sandbox, until it returns a value.
   *
   * @throws AppError `deadline_exceeded`; the abort reason; any error of `look`
   */
  async until<T extends object>(sandboxId: string, look: () => Promise<T | undefined>, { timeoutMs, signal }: UntilOptions): Promise<T> {
    const deadline = performance.now() + timeoutMs
    const waiter = new EventTarget()
    const waiters = this.#waiting.get(sandboxId) ?? new Set()
    this.#waiting.set(sandboxId, waiters.add(waiter))
    let changed = new AbortController()
    waiter.addEventListener('change', () => changed.abort())
    try {
      while (true) {
        signal?.throwIfAborted()
        // Before the look, so that no change is missed in between.
        changed = new AbortController()
        const found = await look()
        if (found !== undefined) return found
        if (performance.now() >= deadline) throw new AppError('deadline_exceeded', 'Error waiting for sandbox state change')
        await delay(LOOK_EVERY_MS, undefined, { signal: changed.signal }).catch(() => undefined)
      }
    } finally {
      waiters.delete(waiter)
      if (waiters.size === 0) this.#waiting.delete(sandboxId)
    }
  }
}
