import { within } from '@sandyard/kit/async/within'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { SandboxRef } from '@sandyard/runtime/types'
import type { EndReason } from './end-sandbox.ts'

/** An engine that stops ends its sandboxes before or after its last event. */
const STOPPING_MS = 20_000
/** An engine that has started may still end what it has found, and the clock of its host may differ. */
const STARTING_MS = 5000
const MOST_ABSENCES = 10
const READ_TIMEOUT_MS = 5000

interface Absence {
  readonly from: number
  readonly until: number
}

export type LossReason = Extract<EndReason, 'engine_gone' | 'lost' | 'out_of_memory'>

/**
 * Tells why a sandbox has ended that nothing of this installation has ended: the engine was away, its daemon was killed for its memory, or another
 * reason. Absences are those that this server has seen.
 */
export class EndReasons {
  readonly #runtime: Pick<SandboxRuntime, 'findEnd'>
  readonly #log: Logger
  readonly #absences: Absence[] = []
  #awaySince: number | undefined

  constructor(runtime: Pick<SandboxRuntime, 'findEnd'>, log: Logger) {
    this.#runtime = runtime
    this.#log = log
  }

  /** The engine sends no events. May be called again until it is back. */
  engineLeft(): void {
    this.#awaySince ??= Date.now()
  }

  /** The engine sends events. */
  engineIsThere(): void {
    if (this.#awaySince === undefined) return
    this.#absences.push({ from: this.#awaySince, until: Date.now() })
    this.#awaySince = undefined
    if (this.#absences.length > MOST_ABSENCES) this.#absences.shift()
  }

  /** The reason for the end of a sandbox without processes. Never rejects: `lost` when the engine does not tell. */
  async reasonOf(ref: SandboxRef): Promise<LossReason> {
    const read = { what: 'the read of the end of a sandbox', timeoutMs: READ_TIMEOUT_MS }
    try {
      const end = await within(read, () => this.#runtime.findEnd(ref))
      if (end === undefined) return 'lost'
      // First: the engine may remember an earlier process that was killed for its memory.
      if (end.cause === 'engine' || this.#wasAway(end.at.getTime())) return 'engine_gone'
      return end.cause === 'out_of_memory' ? 'out_of_memory' : 'lost'
    } catch (err) {
      this.#log.warn({ err, ...ref }, 'the engine does not tell how a sandbox has ended')
      return 'lost'
    }
  }

  #wasAway(at: number): boolean {
    const now = this.#awaySince === undefined ? [] : [{ from: this.#awaySince, until: Infinity }]
    return [...this.#absences, ...now].some(({ from, until }) => at >= from - STOPPING_MS && at <= until + STARTING_MS)
  }
}
