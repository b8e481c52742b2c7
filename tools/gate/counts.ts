/** How many checks and tests passed, failed or were skipped, with a line for each that did not pass. */
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

/** The prefix of the reason of a skip that the machine causes, such as a kernel without FUSE: no installation can fix it. */
const ABSENT = 'absent here:'

/** Where skips are not allowed (CI), a skip is a failure that names its reason, unless the reason begins with `absent here:`. */
export function refuseSkips(counts: Counts): Counts {
  const { absent = [], refused = [] } = Object.groupBy(counts.skips, (skip) => (skip.includes(`: ${ABSENT} `) ? 'absent' : 'refused'))
  const failures = refused.map((skip) => `left out, which CI does not allow: ${skip}`)
  return {
    ...counts,
    failed: counts.failed + refused.length,
    skipped: absent.length,
    skips: absent,
    failures: [...counts.failures, ...failures],
  }
}

/** The last line of the gate; programs parse it. */
export function closingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

/** A gate in which nothing ran has failed. */
export function exitCode({ passed, failed }: Counts): number {
  return failed > 0 || passed === 0 ? 1 : 0
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
