import { seededRandom } from '@sandyard/test-kit/seeded-random'

/** A seeded random generator: the same seed gives the same run on every machine. */
export class Random {
  /** A number from 0 up to, but not including, `limit`. */
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

  /** True with a probability of 1 / `times`. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)))
  }
}
