import type { DialFailure } from '../dial/dial-error.ts'
import type { Decision as PolicyDecision } from '../policy/decide.ts'

/** What decided on a connection: a rule of the policy, a failure on the way to the server, or a connection that could not be read. */
export type DecidedBy = PolicyDecision['rule'] | DialFailure | 'malformed' | 'client_tls_failed' | 'limit'

/** A decision on a connection, or on a request of one. */
export interface SandboxDecision {
  readonly sandboxId: string
  readonly teamId: string
  readonly verdict: 'allow' | 'deny'
  readonly rule: DecidedBy
  readonly name: string | undefined
  /** Where the sandbox has sent it. */
  readonly address: string
  readonly port: number
}

/** Equal decisions within a few seconds. */
export interface DecisionRow extends SandboxDecision {
  readonly lastAt: Date
  readonly count: number
}

/** Rows of one sandbox and of all between two writes. Decisions over the cap are counted, not kept. */
export interface DecisionCaps {
  readonly perSandbox: number
  readonly inAll: number
}

interface Pending {
  readonly decision: SandboxDecision
  lastAt: Date
  count: number
}

/** Decisions since the last write, equal ones as one with their count. */
export class DecisionLog {
  readonly #caps: DecisionCaps
  readonly #onDropped: () => void
  #pending = new Map<string, Pending>()
  #perSandbox = new Map<string, number>()

  constructor(caps: DecisionCaps, onDropped: () => void) {
    this.#caps = caps
    this.#onDropped = onDropped
  }

  add(decision: SandboxDecision): void {
    const { sandboxId, verdict, rule, name, address, port } = decision
    const key = JSON.stringify([sandboxId, verdict, rule, name, address, port])
    const known = this.#pending.get(key)
    if (known !== undefined) {
      known.count += 1
      known.lastAt = new Date()
      return
    }
    const rows = this.#perSandbox.get(sandboxId) ?? 0
    if (rows >= this.#caps.perSandbox || this.#pending.size >= this.#caps.inAll) {
      this.#onDropped()
      return
    }
    this.#perSandbox.set(sandboxId, rows + 1)
    this.#pending.set(key, { decision, lastAt: new Date(), count: 1 })
  }

  /** Takes what was added since the last call. */
  take(): DecisionRow[] {
    const taken = [...this.#pending.values()].map(({ decision, lastAt, count }) => ({ ...decision, lastAt, count }))
    this.#pending = new Map()
    this.#perSandbox = new Map()
    return taken
  }
}
