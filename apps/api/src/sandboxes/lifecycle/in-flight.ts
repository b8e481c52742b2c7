import type { SandboxRef } from '@sandyard/runtime/types'

interface Undo {
  readonly ref: SandboxRef
  readonly run: () => Promise<unknown>
}

/** Sandboxes beyond that end at their end time. */
const MAX_UNDOS = 10_000

/**
 * The sandboxes that this server is starting, pausing, resuming or saving at this moment. A row that says so of another sandbox was left by a
 * failure: the commit of a beginning or of an undo was not confirmed. The reconciler of this server settles it.
 */
export class InFlight {
  readonly #counts = new Map<string, number>()
  readonly #undos = new Map<string, Undo>()

  /** From before the beginning of a transition until its end or its undo has been tried. */
  hold({ sandboxId }: SandboxRef): Disposable {
    this.#counts.set(sandboxId, (this.#counts.get(sandboxId) ?? 0) + 1)
    return {
      [Symbol.dispose]: () => {
        const count = (this.#counts.get(sandboxId) ?? 0) - 1
        if (count > 0) this.#counts.set(sandboxId, count)
        else this.#counts.delete(sandboxId)
      },
    }
  }

  has({ sandboxId }: SandboxRef): boolean {
    return this.#counts.has(sandboxId)
  }

  ids(): string[] {
    return [...this.#counts.keys()]
  }

  /** Leaves an undo that has failed to the next pass of the reconciler: the row may be one that works, of a sandbox that no client knows. */
  undoLater(ref: SandboxRef, run: () => Promise<unknown>): void {
    if (this.#undos.size < MAX_UNDOS) this.#undos.set(ref.sandboxId, { ref, run })
  }

  /** Returns what `undoLater` was given, and forgets it. */
  takeUndos(): Undo[] {
    const taken = [...this.#undos.values()]
    this.#undos.clear()
    return taken
  }
}
