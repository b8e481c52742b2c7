import type { SandboxRef } from '@sandyard/runtime/types'
import { keyOf } from './repairs.ts'

interface Unfinished {
  readonly ref: SandboxRef
  readonly work: () => Promise<unknown>
}

/** Beyond this number the rest waits until it counts as abandoned. */
const MAX_REMEMBERED = 10_000

/**
 * What this server has begun and could neither finish nor undo, because the database or the engine was away. The reconciler does it at its next
 * pass: other servers leave the rows of a live one alone for minutes. If this server dies, they take them over.
 */
export class UnfinishedWork {
  readonly #all = new Map<string, Unfinished>()

  add(ref: SandboxRef, work: () => Promise<unknown>): void {
    if (this.#all.size < MAX_REMEMBERED) this.#all.set(keyOf(ref), { ref, work })
  }

  /** Returns everything, and forgets it. What fails again must be added again. */
  takeAll(): Unfinished[] {
    const taken = [...this.#all.values()]
    this.#all.clear()
    return taken
  }
}
