import { FairQueue } from '@sandyard/kit/async/fair-queue'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { currentOwner } from '@sandyard/kit/tracing/scope'
import type { SandboxRef } from '@sandyard/runtime/types'

/** Concurrent repairs, of all teams and of one. Each has a deadline, which frees its slot. */
const FIRST = { inAll: 8, perOwner: 6 }
/** Retries run in separate slots: a sandbox that the engine cannot end blocks no other. */
const AGAIN = { inAll: 2, perOwner: 2 }
const MAX_REMEMBERED_FAILURES = 10_000

/**
 * Runs the background work on sandboxes of one server, with bounded concurrency and at most one repair per sandbox. Failures are logged and
 * left to the next pass of the reconciler.
 */
export class Repairs {
  readonly #log: Logger
  readonly #first = new FairQueue({ ...FIRST, onFull: tooMany })
  readonly #again = new FairQueue({ ...AGAIN, onFull: tooMany })
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

  /** Never rejects. Does nothing while another repair of the sandbox runs. Teams take turns, and sandboxes where no team is known. */
  run({ sandboxId, incarnation }: SandboxRef, work: () => Promise<unknown>): Promise<void> {
    const key = keyOf({ sandboxId, incarnation })
    const running = this.#running.get(key)
    if (running !== undefined) return running
    const queue = this.#failed.has(key) ? this.#again : this.#first
    const repair = queue.run(currentOwner() ?? sandboxId, async () => {
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

/** There is one repair for a sandbox, so their number has no cap of its own. */
function tooMany(): Error {
  return new Error('too many repairs wait')
}

/** A map key for one incarnation of a sandbox. */
export function keyOf({ sandboxId, incarnation }: SandboxRef): string {
  return `${sandboxId}/${incarnation}`
}
