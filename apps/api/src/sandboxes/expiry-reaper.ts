import { sql } from 'kysely'
import type { Database } from '@sandyard/db/database'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { Semaphore } from '@sandyard/kit/async/semaphore'
import type { SandboxRef } from '@sandyard/runtime/types'
import { finishEnd, killing, type EndParts } from './end-sandbox.ts'
import { changeState } from './sandbox-state.ts'

/** With the loop's jitter, an expired sandbox is acted on within a quarter of a second. */
export const REAP_EVERY_MS = 230

const BATCH = 100
const REMOVALS_AT_ONCE = 8

export interface ReaperParts extends EndParts {
  readonly log: Logger
}

/** Ends sandboxes whose time is over. Several servers may run one each: a sandbox is taken by one of them. */
export class ExpiryReaper {
  readonly #parts: ReaperParts
  readonly #removals = new Semaphore(REMOVALS_AT_ONCE)
  readonly #running = new Set<Promise<void>>()

  constructor(parts: ReaperParts) {
    this.#parts = parts
  }

  /** Takes what has expired out of reach; freeing it goes on behind this call, so that a slow one delays no other. */
  async reap(): Promise<void> {
    for (const ref of await takeExpired(this.#parts.database)) {
      const removal = this.#removals.run(() => this.#remove(ref)).finally(() => this.#running.delete(removal))
      this.#running.add(removal)
    }
  }

  /** Resolves when everything that was taken has been freed or given up to the reconciler. */
  async drain(): Promise<void> {
    await Promise.all(this.#running)
  }

  async #remove(ref: SandboxRef): Promise<void> {
    try {
      await finishEnd(this.#parts, ref)
    } catch (err) {
      this.#parts.log.error({ err, ...ref }, 'expired sandbox could not be removed yet')
    }
  }
}

/** One that is being given more time right now is skipped, and judged by its new end time at the next run. */
async function takeExpired(database: Database): Promise<SandboxRef[]> {
  return database.transaction(async (tx) => {
    const due = await tx
      .selectFrom('sandbox')
      .select(['sandbox_id', 'incarnation'])
      .where('state', '=', 'running')
      .where('expires_at', '<=', sql<Date>`clock_timestamp()`)
      .orderBy('expires_at')
      .limit(BATCH)
      .forUpdate()
      .skipLocked()
      .execute()
    const refs = due.map((row) => ({ sandboxId: row.sandbox_id, incarnation: row.incarnation }))
    for (const ref of refs) await changeState(tx, ref, killing('expired'))
    return refs
  })
}
