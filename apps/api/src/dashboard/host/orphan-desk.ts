import type { Orphan } from '@sandyard/dashboard-contract/host'
import type { Orphan as FoundOrphan, OrphanSource } from '@sandyard/runtime/orphan'
import { within } from '@sandyard/kit/async/within'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'

export type OpenOrphans = (signal: AbortSignal) => Promise<OrphanSource>

export interface Collected {
  readonly removed: readonly Orphan[]
  readonly failed: readonly { readonly id: string; readonly message: string }[]
}

const FIND_TIMEOUT_MS = 60_000
/** Within the time that pages wait; what is left is listed again. */
const COLLECT_TIMEOUT_MS = 55_000
/** How long a look at the engine counts. */
const KEPT_MS = 10_000
const MAX_SHOWN = 500

/** The orphans of this installation: one look and one removal at a time, however many pages ask. */
export class OrphanDesk {
  readonly #open: OpenOrphans | undefined
  readonly #log: Logger
  #looking: Promise<readonly FoundOrphan[]> | undefined
  #known: { readonly found: readonly FoundOrphan[]; readonly at: number } | undefined
  #isCollecting = false

  /** @param open - undefined: this server was started without an engine that has orphans */
  constructor(open: OpenOrphans | undefined, log: Logger) {
    this.#open = open
    this.#log = log
  }

  get isServed(): boolean {
    return this.#open !== undefined
  }

  /** What the last look has found; undefined before the first. */
  get known(): { readonly count: number; readonly bytes: number } | undefined {
    const found = this.#known?.found
    return found && { count: found.length, bytes: found.reduce((sum, { sizeBytes = 0 }) => sum + sizeBytes, 0) }
  }

  /** Looks at the engine unless it was done within `maxAgeMs`. @throws AppError `unimplemented`, `deadline_exceeded`, of the engine */
  async list(maxAgeMs = KEPT_MS): Promise<{ readonly data: readonly Orphan[]; readonly isCut: boolean }> {
    const known = this.#known
    const found = known !== undefined && performance.now() - known.at < maxAgeMs ? known.found : await this.#look()
    return { data: found.slice(0, MAX_SHOWN).map(toOrphan), isCut: found.length > MAX_SHOWN }
  }

  /**
   * Removes what a new look finds, until the time is up or the signal aborts. A dry run says what it would remove.
   *
   * @throws AppError `conflict` while another removal goes on, and as `list`
   */
  async collect({ dryRun, signal }: { readonly dryRun: boolean; readonly signal: AbortSignal }): Promise<Collected> {
    if (this.#isCollecting) throw new AppError('conflict', 'The orphans are being removed already')
    this.#isCollecting = true
    try {
      const until = performance.now() + COLLECT_TIMEOUT_MS
      const found = await this.#look()
      if (dryRun) return { removed: found.map(toOrphan), failed: [] }
      return await this.#removeAll(found, { until, signal })
    } finally {
      this.#isCollecting = false
      this.#known = undefined
    }
  }

  async #removeAll(found: readonly FoundOrphan[], { until, signal }: { until: number; signal: AbortSignal }): Promise<Collected> {
    const removed: Orphan[] = []
    const failed: { id: string; message: string }[] = []
    const source = await this.#source(AbortSignal.any([signal, AbortSignal.timeout(COLLECT_TIMEOUT_MS)]))
    for (const orphan of found) {
      const timeoutMs = until - performance.now()
      if (signal.aborted || timeoutMs <= 0) break
      try {
        await within({ what: `The removal of ${orphan.name}`, timeoutMs, signal }, () => source.remove(orphan))
        removed.push(toOrphan(orphan))
      } catch (err) {
        this.#log.warn({ err, orphan: orphan.id }, 'an orphan could not be removed')
        failed.push({ id: orphan.id, message: isAppError(err) ? err.message : 'An unexpected error: the log of the server has it' })
      }
    }
    return { removed, failed }
  }

  /** Pages that ask at once wait for one look. */
  #look(): Promise<readonly FoundOrphan[]> {
    this.#looking ??= within({ what: 'A look at the objects of the engine', timeoutMs: FIND_TIMEOUT_MS }, async (signal) => {
      const found = await (await this.#source(signal)).find()
      this.#known = { found, at: performance.now() }
      return found
    }).finally(() => (this.#looking = undefined))
    return this.#looking
  }

  #source(signal: AbortSignal): Promise<OrphanSource> {
    if (this.#open === undefined) throw new AppError('unimplemented', 'This server does not know its engine: run "sandyard gc"')
    return this.#open(signal)
  }
}

/** Objects of other installations are never looked at, so none is foreign. */
function toOrphan({ kind, id, name, createdAt, sizeBytes }: FoundOrphan): Orphan {
  return { kind, id, name, createdAt: createdAt.toISOString(), bytes: sizeBytes ?? null, isForeign: false }
}
