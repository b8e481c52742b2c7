import { Quota } from '@sandyard/kit/limits/quota'

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

/** Counts the connections of each source address, so that the caps hold before the database is asked for its sandbox. */
export class SourceSlots {
  readonly #open: Quota
  readonly #pending: Quota

  constructor({ maxConnections, maxSandboxConnections, maxSandboxPending }: SlotLimits) {
    this.#open = new Quota({ all: maxConnections, one: maxSandboxConnections })
    this.#pending = new Quota({ all: maxConnections, one: maxSandboxPending })
  }

  get open(): number {
    return this.#open.count
  }

  /** A slot, or undefined when a cap refuses it. */
  take(source: string): Slot | undefined {
    if (this.#open.take(source) !== undefined) return undefined
    if (this.#pending.take(source) !== undefined) {
      this.#open.release(source)
      return undefined
    }
    const [open, pending] = [new DisposableStack(), new DisposableStack()]
    open.defer(() => this.#open.release(source))
    open.use(pending).defer(() => this.#pending.release(source))
    return { settle: () => pending.dispose(), [Symbol.dispose]: () => open.dispose() }
  }
}
