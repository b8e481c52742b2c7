import pLimit, { type LimitFunction } from 'p-limit'

/** Runs one piece of work at a time for each key; the others wait in order. */
export class KeyedQueue {
  readonly #turns = new Map<string, { readonly turn: LimitFunction; users: number }>()

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const entry = this.#turns.get(key) ?? { turn: pLimit(1), users: 0 }
    this.#turns.set(key, entry)
    entry.users += 1
    try {
      return await entry.turn(work)
    } finally {
      entry.users -= 1
      if (entry.users === 0) this.#turns.delete(key)
    }
  }
}
