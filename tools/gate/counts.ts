/** How many checks and tests passed, failed or were left out, with a line for each that did not pass. */
export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** `what: why`, one for each skip. */
  readonly skips: readonly string[]
  /** One for each failure. */
  readonly failures: readonly string[]
}

export const NOTHING: Counts = { passed: 0, failed: 0, skipped: 0, skips: [], failures: [] }

export function addCounts(all: readonly Counts[]): Counts {
  return {
    passed: sum(all.map(({ passed }) => passed)),
    failed: sum(all.map(({ failed }) => failed)),
    skipped: sum(all.map(({ skipped }) => skipped)),
    skips: all.flatMap(({ skips }) => skips),
    failures: all.flatMap(({ failures }) => failures),
  }
}

export function onePassed(): Counts {
  return { ...NOTHING, passed: 1 }
}

export function oneFailed(what: string): Counts {
  return { ...NOTHING, failed: 1, failures: [what] }
}

export function oneSkipped(what: string, why: string): Counts {
  return { ...NOTHING, skipped: 1, skips: [`${what}: ${why}`] }
}

/** Where nothing may be left out (CI), a skip is a failure that names its reason. */
export function refuseSkips(counts: Counts): Counts {
  if (counts.skipped === 0) return counts
  const failures = counts.skips.map((skip) => `left out, which CI does not allow: ${skip}`)
  return { ...counts, failed: counts.failed + counts.skipped, skipped: 0, skips: [], failures: [...counts.failures, ...failures] }
}

/** The last line of the gate; machines read it. */
export function closingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

/** A gate in which nothing ran has not passed. */
export function exitCode({ passed, failed }: Counts): number {
  return failed > 0 || passed === 0 ? 1 : 0
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
