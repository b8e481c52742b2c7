import { seededRandom } from '@sandyard/test-kit/seeded-random'

/** A seeded source of choices: the same seed makes the same run, on any machine. */
export class Random {
  /** At least 0, below `limit`. */
  readonly below: (limit: number) => number

  constructor(seed: number) {
    this.below = seededRandom(seed)
  }

  /** @throws Error for an empty list */
  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new Error('there is nothing to pick from')
    return item
  }

  /** True once in `times`. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)))
  }
}
