import { WaitingLine } from '@sandyard/kit/async/waiting-line'

export interface TurnRequest {
  /** What works for the same owner waits for each other. */
  readonly owners: readonly string[]
  /** It goes before what is not urgent, and has places of its own: however much of that waits, it cannot keep this out. */
  readonly isUrgent: boolean
  /** Ends the wait, but not the work. */
  readonly signal?: AbortSignal | undefined
  /** The error when too many wait, or when it has waited too long. */
  readonly onRefused: () => Error
}

export interface TurnCounts {
  readonly all: number
  readonly most: number
}

/** Of one owner, urgent ones and others each. A request that waits keeps its body in memory. */
const MAX_WAITING = 512
/** Of each owner. As long as a query waits for a connection. */
const WAIT_MS = 10_000

/** What waits for the one that works. */
interface Lines {
  readonly urgent: WaitingLine
  readonly others: WaitingLine
}

/**
 * Lets one work at a time for each owner. What would wait in the database holds a connection meanwhile: many of one owner would take all of them from the
 * others. Each process counts for itself.
 */
export class Turns {
  /** An owner is here while something works for it. */
  readonly #owners = new Map<string, Lines>()

  /** How many wait: of all owners, and of the one with the most. */
  get waiting(): TurnCounts {
    let [all, most] = [0, 0]
    for (const { urgent, others } of this.#owners.values()) {
      const own = urgent.size + others.size
      all += own
      most = Math.max(most, own)
    }
    return { all, most }
  }

  /** @throws the error of `onRefused`; the abort reason; the error of `work` */
  async run<T>(request: TurnRequest, work: () => Promise<T>): Promise<T> {
    const entered: string[] = []
    try {
      // In one order, so that no two wait for each other.
      for (const owner of [...new Set(request.owners)].toSorted()) {
        await this.#enter(owner, request)
        entered.push(owner)
      }
      return await work()
    } finally {
      for (const owner of entered) this.#leave(owner)
    }
  }

  async #enter(owner: string, request: TurnRequest): Promise<void> {
    const lines = this.#owners.get(owner)
    if (lines === undefined) {
      this.#owners.set(owner, { urgent: new WaitingLine(), others: new WaitingLine() })
      return
    }
    const { isUrgent, signal, onRefused: onLate } = request
    const line = isUrgent ? lines.urgent : lines.others
    signal?.throwIfAborted()
    if (line.size >= MAX_WAITING) throw onLate()
    await line.wait({ signal, timeoutMs: WAIT_MS, onLate })
  }

  #leave(owner: string): void {
    const lines = this.#owners.get(owner)
    if (lines?.urgent.next() !== true && lines?.others.next() !== true) this.#owners.delete(owner)
  }
}
