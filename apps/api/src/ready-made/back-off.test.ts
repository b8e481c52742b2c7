import { expect, it } from 'vitest'
import { backOffMs, msUntilRetry } from './back-off.ts'
import type { ReadyMadeBuild, ReadyMadeState } from './ready-made-state.ts'

it.each([
  [1, 10_000],
  [2, 20_000],
  [4, 80_000],
  [7, 600_000],
  [1000, 600_000],
])('waits after %i failures for %i ms', (failures, ms) => {
  expect(backOffMs(failures)).toBe(ms)
})

const ended = (status: ReadyMadeBuild['status'], finishedMsAgo: number): ReadyMadeState => ({
  templateId: 't',
  isTaken: false,
  failures: status === 'failed' ? 2 : 0,
  installed: undefined,
  newest: {
    buildId: 'b',
    version: 1,
    digest: '',
    status,
    createdAt: new Date(0),
    finishedAt: new Date(0),
    reason: 'it broke',
    finishedMsAgo,
  },
})

it('counts from the end of the newest build', () => {
  expect(msUntilRetry(ended('failed', 5000))).toBe(15_000)
  expect(msUntilRetry(ended('failed', 25_000))).toBe(0)
  expect(msUntilRetry(ended('uploaded', 0))).toBe(0)
})
