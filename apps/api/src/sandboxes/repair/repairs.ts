import pLimit from 'p-limit'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRef } from '@sandyard/runtime/types'

/** Concurrent repairs. Each has a deadline, which frees its slot. */
const WIDTH = 8
/** Retries run in separate slots: a sandbox that the engine cannot end blocks no other. */
const RETRY_WIDTH = 2
const MAX_REMEMBERED_FAILURES = 10_000

/**
 * Runs the background work on sandboxes of one server, with bounded concurrency and at most one repair per sandbox. Failures are logged and
 * left to the next pass of the reconciler.
 */
export class Repairs {
  readonly #log: Logger
  readonly #first = pLimit(WIDTH)
  readonly #again = pLimit(RETRY_WIDTH)
  readonly #running = new Map<string, Promise<void>>()
  readonly #failed = new Set<string>()
  #isStopped = false

  constructor(log: Logger) {
    this.#log = log
  }

  /** The number of waiting and running repairs. */
  get size(): number {
    return this.#running.size
  }

  /** Never rejects. Does nothing while another repair of the sandbox runs. */
  run({ sandboxId, incarnation }: SandboxRef, work: () => Promise<unknown>): Promise<void> {
    const key = keyOf({ sandboxId, incarnation })
    const running = this.#running.get(key)
    if (running !== undefined) return running
    const limit = this.#failed.has(key) ? this.#again : this.#first
    const repair = limit(async () => {
      try {
        if (this.#isStopped) return
        await work()
        this.#failed.delete(key)
      } catch (err) {
        this.#log.error({ err, sandboxId, incarnation }, 'sandbox could not be repaired yet')
        if (this.#failed.size >= MAX_REMEMBERED_FAILURES) this.#failed.clear()
        this.#failed.add(key)
      } finally {
        this.#running.delete(key)
      }
    })
    this.#running.set(key, repair)
    return repair
  }

  /** Like `run`, but after another repair of the sandbox that is running. */
  async runNext(ref: SandboxRef, work: () => Promise<unknown>): Promise<void> {
    await this.#running.get(keyOf(ref))
    await this.run(ref, work)
  }

  /** Resolves when no repair waits or runs. */
  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  /** Drops waiting repairs, which another server or the next start does. Resolves when none runs. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.drain()
  }
}

/** A map key for one incarnation of a sandbox. */
export function keyOf({ sandboxId, incarnation }: SandboxRef): string {
  return `${sandboxId}/${incarnation}`
}
