import type { Database } from '@sandyard/db/database'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { Drain } from './drain.ts'
import { RememberedCheck, type CheckLimits } from './remembered-check.ts'

/** The routes need no key, so any number of requests may cost only one check a second. */
const LIMITS: CheckLimits = { rememberMs: 1000, timeoutMs: 2000 }

export interface ReadyState {
  readonly ready: boolean
  readonly database: boolean
  readonly runtime: boolean
}

interface ReadyParts {
  readonly database: Database
  readonly runtime: SandboxRuntime
  readonly drain: Drain
}

/** Whether this server can serve: it does not stop, and its database and its engine answer. */
export class ReadyChecks {
  readonly #database: RememberedCheck
  readonly #runtime: RememberedCheck
  readonly #drain: Drain

  constructor({ database, runtime, drain }: ReadyParts) {
    this.#database = new RememberedCheck(() => database.ping(), LIMITS)
    this.#runtime = new RememberedCheck((signal) => runtime.ping(signal), LIMITS)
    this.#drain = drain
  }

  async check(): Promise<ReadyState> {
    // The database and the runtime are being closed.
    if (this.#drain.isDraining) return { ready: false, database: false, runtime: false }
    const [database, runtime] = await Promise.all([this.#database.passes(), this.#runtime.passes()])
    return { ready: database && runtime, database, runtime }
  }
}
