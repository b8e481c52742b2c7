import { expect, test } from 'vitest'
import { backOffMs } from './back-off.ts'

test('doubles the pause from half a second to 15 seconds', () => {
  expect([0, 1, 2, 3, 4, 5, 6, 1000].map((attempt) => backOffMs(attempt, 1))).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000])
})

test('spreads tabs over the upper half of the pause', () => {
  expect(backOffMs(3, 0)).toBe(2000)
  expect(backOffMs(3, 0.5)).toBe(3000)
})
