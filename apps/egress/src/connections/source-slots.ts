export interface SlotLimits {
  readonly maxConnections: number
  readonly maxSandboxConnections: number
  readonly maxSandboxPending: number
}

/** The place of one connection in the caps. */
export interface Slot extends Disposable {
  /** The connection is decided and connected, so it is not pending any more. */
  settle(): void
}

interface Count {
  open: number
  pending: number
}

/** Counts the connections of each source address, so that the caps hold before the database is asked for its sandbox. */
export class SourceSlots {
  readonly #limits: SlotLimits
  readonly #bySource = new Map<string, Count>()
  #open = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  get open(): number {
    return this.#open
  }

  /** A slot, or undefined when a cap refuses it. */
  take(source: string): Slot | undefined {
    const { maxConnections, maxSandboxConnections, maxSandboxPending } = this.#limits
    const count = this.#bySource.get(source) ?? { open: 0, pending: 0 }
    if (this.#open >= maxConnections || count.open >= maxSandboxConnections || count.pending >= maxSandboxPending) return undefined
    this.#bySource.set(source, count)
    this.#open += 1
    count.open += 1
    count.pending += 1
    let isPending = true
    let isOpen = true
    const settle = (): void => {
      if (isPending) count.pending -= 1
      isPending = false
    }
    return {
      settle,
      [Symbol.dispose]: () => {
        settle()
        if (!isOpen) return
        isOpen = false
        this.#open -= 1
        count.open -= 1
        if (count.open === 0) this.#bySource.delete(source)
      },
    }
  }
}
