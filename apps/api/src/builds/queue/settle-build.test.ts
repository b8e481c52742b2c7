import { expect, it } from 'vitest'
import { duration } from './settle-build.ts'

it.each([
  [-5, '0ms'],
  [850, '850ms'],
  [12_400, '12.4s'],
  [59_990, '59.9s'],
  [60_000, '1m0s'],
  [187_900, '3m7s'],
])('writes %i ms as %s', (ms, text) => {
  expect(duration(ms)).toBe(text)
})
