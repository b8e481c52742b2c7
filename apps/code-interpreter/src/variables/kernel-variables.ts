import type { VariableChanges } from '../languages/variables-to-code.ts'

export type Variables = Readonly<Record<string, string>>

/**
 * What has been set in a kernel beside the variables that it was started with. A cell sees those of the sandbox and its own. Before the
 * next cell they are changed again where they differ, so that a cell without variables needs no call.
 */
export class KernelVariables {
  readonly #initial: Readonly<Record<string, string | undefined>>
  readonly #set = new Map<string, string | undefined>()

  /** @param initial the variables of the process that the kernel was started with */
  constructor(initial: Readonly<Record<string, string | undefined>>) {
    this.#initial = initial
  }

  /** What must change so that a cell sees `wanted`; undefined when nothing must. */
  changesTo(wanted: Variables): VariableChanges | undefined {
    const changes: Record<string, string | undefined> = {}
    for (const name of new Set([...this.#set.keys(), ...Object.keys(wanted)])) {
      const value = wanted[name] ?? this.#initial[name]
      const now = this.#set.has(name) ? this.#set.get(name) : this.#initial[name]
      if (value !== now) changes[name] = value
    }
    return Object.keys(changes).length === 0 ? undefined : changes
  }

  /** Notes that the kernel has made the changes. */
  apply(changes: VariableChanges): void {
    for (const [name, value] of Object.entries(changes)) this.#set.set(name, value)
  }

  /** The kernel has been started again. */
  reset(): void {
    this.#set.clear()
  }
}
