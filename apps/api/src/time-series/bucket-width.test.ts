import { expect, it } from 'vitest'
import { bucketWidth } from './bucket-width.ts'

const HOUR = 3600

it.each([
  [0, 5],
  [HOUR - 1, 5],
  [HOUR, 30],
  [6 * HOUR, 60],
  [12 * HOUR, 120],
  [24 * HOUR - 1, 120],
  [24 * HOUR, 300],
  [7 * 24 * HOUR - 1, 300],
  [7 * 24 * HOUR, 900],
  [21 * 24 * HOUR, 900],
  [210 * 24 * HOUR, 9000],
])('a range of %i s has points of %i s', (range, width) => expect(bucketWidth(range)).toBe(width))

it('depends on the recorded part only where the range has too many points', () => {
  expect(bucketWidth(50 * 365 * 24 * HOUR, HOUR)).toBe(900)
  expect(bucketWidth(50 * 365 * 24 * HOUR, 210 * 24 * HOUR)).toBe(9000)
})
