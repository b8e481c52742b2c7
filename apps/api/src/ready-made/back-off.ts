import type { ReadyMadeState } from './ready-made-state.ts'

const FIRST_MS = 10_000
const LONGEST_MS = 10 * 60_000

/** How long after its end a failed build is not repeated: twice as long after each further failure. */
export function backOffMs(failures: number): number {
  return Math.min(FIRST_MS * 2 ** Math.max(0, failures - 1), LONGEST_MS)
}

/** The milliseconds until the next try; 0 when the newest build did not fail or is long ago. */
export function msUntilRetry({ newest, failures }: ReadyMadeState): number {
  if (newest?.status !== 'failed') return 0
  return Math.max(0, Math.ceil(backOffMs(failures) - newest.finishedMsAgo))
}
