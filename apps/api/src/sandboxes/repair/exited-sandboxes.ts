import { setTimeout as delay } from 'node:timers/promises'
import { within } from '@sandyard/kit/async/within'
import type { SandboxRef } from '@sandyard/runtime/types'
import { SERVER } from '../../events/actor.ts'
import { beginEnd, finishEnd, killing } from '../end/end-sandbox.ts'
import type { ReconcilerParts } from './reconciler.ts'
import { ownedOf } from './reconciler-queries.ts'
import { keyOf } from './repairs.ts'
import type { StartsUnderWay } from '../start/starts-under-way.ts'
import { parkedOf } from '../../warm-pool/parked-rows.ts'

export interface ExitParts extends ReconcilerParts {
  readonly starts: StartsUnderWay
}

/** For a moment after an event the runtime may still report the old state. */
const LOOKS = 20
const LOOK_EVERY_MS = 100
const LIST_TIMEOUT_MS = 30_000
/** The reconciler finds the sandboxes beyond this cap. */
const MAX_SUSPECTS = 50_000

/**
 * Ends sandboxes that exited by themselves. Exits are checked together, with one list of the runtime and a few statements for each check,
 * and ended at the width of the repairs.
 */
export class ExitedSandboxes {
  readonly #parts: ExitParts
  readonly #suspects = new Map<string, { readonly ref: SandboxRef; looks: number }>()
  readonly #stopping = new AbortController()
  #looking: Promise<void> | undefined

  constructor(parts: ExitParts) {
    this.#parts = parts
  }

  /** The runtime reported an exit. */
  suspect({ sandboxId, incarnation }: SandboxRef): void {
    if (this.#stopping.signal.aborted || this.#suspects.size >= MAX_SUSPECTS) return
    const ref = { sandboxId, incarnation }
    this.#suspects.set(keyOf(ref), { ref, looks: 0 })
    this.#looking ??= this.#lookAtAll().finally(() => (this.#looking = undefined))
  }

  /** Resolves when the running check has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#looking
  }

  async #lookAtAll(): Promise<void> {
    const { signal } = this.#stopping
    while (this.#suspects.size > 0 && !signal.aborted) {
      try {
        await this.#look()
      } catch (err) {
        if (!signal.aborted) this.#parts.log.warn({ err }, 'exited sandboxes could not be checked yet')
      }
      for (const [key, suspect] of this.#suspects) {
        suspect.looks += 1
        if (suspect.looks >= LOOKS) this.#suspects.delete(key)
      }
      if (this.#suspects.size > 0) await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined)
    }
  }

  /** Most exits belong to sandboxes that a request is ending: they have no live row and need nothing. */
  async #look(): Promise<void> {
    const { database, runtime } = this.#parts
    const suspects = [...this.#suspects.values()].map(({ ref }) => ref)
    const ids = suspects.map(({ sandboxId }) => sandboxId)
    // In this order: a claim moves a row from the pool to the sandboxes.
    const parked = new Set((await parkedOf(database.db, ids)).map(keyOf))
    const live = await ownedOf(database.db, suspects, ['starting', 'running'])
    for (const ref of suspects) if (!live.has(keyOf(ref)) && !parked.has(keyOf(ref))) this.#suspects.delete(keyOf(ref))
    if (this.#suspects.size === 0) return
    const sandboxes = await within({ what: 'the list of sandboxes', timeoutMs: LIST_TIMEOUT_MS }, () => runtime.list())
    const alive = new Set(sandboxes.filter(({ state }) => state !== 'stopped').map(keyOf))
    for (const ref of suspects) {
      const key = keyOf(ref)
      if (alive.has(key) || !(live.has(key) || parked.has(key))) continue
      const runSince = live.get(key)
      if (runSince === undefined) await this.#parts.pool.lost([ref])
      // A start undoes itself, or goes on without the sandbox that it has claimed. It stays a suspect: it may be about to become running.
      else if (runSince === null) this.#parts.starts.abort(ref)
      else this.#end(ref, runSince)
      if (runSince !== null) this.#suspects.delete(key)
    }
  }

  #end(ref: SandboxRef, runSince: Date): void {
    const { database, endReasons, log, repairs } = this.#parts
    void repairs.run(ref, async () => {
      const reason = await endReasons.reasonOf(ref)
      log.warn({ ...ref, reason }, 'sandbox exited by itself')
      const change = { ...killing(reason, SERVER, 'running'), runSince }
      if (await beginEnd(database, ref, change)) await finishEnd(this.#parts, ref)
    })
  }
}
