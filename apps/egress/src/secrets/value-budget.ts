import type { EgressSandbox } from '../sandboxes/sandbox.ts'

type Owner = Pick<EgressSandbox, 'sandboxId' | 'teamId'>

export interface BudgetLimits {
  readonly sandboxChars: number
  readonly teamChars: number
  readonly allChars: number
}

/** What one request has in memory. Its end frees it. */
export interface BudgetShare extends Disposable {
  /** False when a cap refuses so many more characters; then nothing is added. */
  add(chars: number): boolean
}

/**
 * Counts the characters of secrets and identity tokens in the headers of requests under way: a short placeholder may stand for a long value, and a
 * sandbox has many connections.
 */
export class ValueBudget {
  readonly #limits: BudgetLimits
  readonly #used = new Map<string, number>()

  constructor(limits: BudgetLimits) {
    this.#limits = limits
  }

  open({ sandboxId, teamId }: Owner): BudgetShare {
    const { sandboxChars, teamChars, allChars } = this.#limits
    const accounts = [
      { key: `sandbox ${sandboxId}`, most: sandboxChars },
      { key: `team ${teamId}`, most: teamChars },
      { key: 'all', most: allChars },
    ]
    let taken = 0
    return {
      add: (chars) => {
        if (accounts.some(({ key, most }) => this.#usedBy(key) + chars > most)) return false
        for (const { key } of accounts) this.#used.set(key, this.#usedBy(key) + chars)
        taken += chars
        return true
      },
      [Symbol.dispose]: () => {
        for (const { key } of accounts) {
          const left = this.#usedBy(key) - taken
          if (left === 0) this.#used.delete(key)
          else this.#used.set(key, left)
        }
        taken = 0
      },
    }
  }

  #usedBy(key: string): number {
    return this.#used.get(key) ?? 0
  }
}
