/** Milliseconds, or another unit, of the repetitions of one measurement. */
export type Samples = readonly number[]

/** The value that `share` of the samples do not exceed; NaN without samples. */
export function quantile(samples: Samples, share: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export async function timeMs(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** What each repetition took longer than the one of the other side in the same turn. */
export function differences(ours: Samples, against: Samples): Samples {
  return ours.map((value, index) => value - (against[index] ?? Number.NaN))
}

export interface RepeatOptions {
  readonly times: number
  /** Repetitions before the measured ones. */
  readonly warmUps: number
}

/**
 * Measures each of `works` in turn, repeatedly and every other time in the opposite order, so that a disturbance of the machine
 * affects all of them.
 */
export async function interleave<K extends string>(
  { times, warmUps }: RepeatOptions,
  works: Readonly<Record<K, () => Promise<number>>>,
): Promise<Record<K, Samples>> {
  const names = Object.keys(works) as K[]
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<K, number[]>
  for (let round = -warmUps; round < times; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const value = await works[name]()
      if (round >= 0) samples[name].push(value)
    }
  }
  return samples
}
