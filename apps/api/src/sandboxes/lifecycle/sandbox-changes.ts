import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '@sandyard/kit/errors/app-error'
import { Quota } from '@sandyard/kit/limits/quota'
import { currentScope } from '@sandyard/kit/tracing/scope'

/** A missed notification delays a waiting request by this much, and by as much again for each further `WAITERS_A_LOOK` that wait for the sandbox. */
const LOOK_EVERY_MS = 500
const WAITERS_A_LOOK = 16

/** Requests that wait: of all teams, and of one. */
const CAPS = { all: 4096, one: 256 }

export interface UntilOptions {
  readonly timeoutMs: number
  /** The wait goes on when the client has gone: the change that it asked for is still wanted. */
  readonly outlivesClient?: boolean
}

/** Lets requests wait until another request or another server has finished a transition of the same sandbox. */
export class SandboxChanges {
  readonly #waiting = new Map<string, Set<EventTarget>>()
  readonly #places = new Quota(CAPS)

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
   * @throws AppError `deadline_exceeded`; `resource_exhausted` when too many requests of the team wait; `canceled` when the client has gone; any error of
   * `look`
   */
  async until<T extends object>(sandboxId: string, look: () => Promise<T | undefined>, options: UntilOptions): Promise<T> {
    const deadline = performance.now() + options.timeoutMs
    const waiter = new EventTarget()
    const waiters = this.#waiting.get(sandboxId) ?? new Set()
    this.#waiting.set(sandboxId, waiters.add(waiter))
    let changed = new AbortController()
    waiter.addEventListener('change', () => changed.abort())
    const request = currentScope()?.request
    const gone = options.outlivesClient === true ? undefined : request?.gone
    let owner: string | undefined
    try {
      while (true) {
        gone?.throwIfAborted()
        // Before the look, so that no change is missed in between.
        changed = new AbortController()
        const found = await look()
        if (found !== undefined) return found
        const leftMs = deadline - performance.now()
        if (leftMs <= 0) throw new AppError('deadline_exceeded', 'Error waiting for sandbox state change')
        // The first look may have found the team.
        owner ??= this.#enter(request?.teamId ?? sandboxId)
        const signal = gone === undefined ? changed.signal : AbortSignal.any([changed.signal, gone])
        const pauseMs = LOOK_EVERY_MS * Math.ceil(waiters.size / WAITERS_A_LOOK)
        await delay(Math.min(pauseMs, leftMs), undefined, { signal }).catch(() => undefined)
      }
    } finally {
      if (owner !== undefined) this.#places.release(owner)
      waiters.delete(waiter)
      if (waiters.size === 0) this.#waiting.delete(sandboxId)
    }
  }

  #enter(owner: string): string {
    if (this.#places.take(owner) !== undefined) throw tooManyWait()
    return owner
  }
}

function tooManyWait(): AppError {
  const headers = { 'retry-after': '1' }
  return new AppError('resource_exhausted', 'Too many requests of the team wait for changes of sandboxes: try again', { headers })
}
