import { expect, it } from 'vitest'
import { sizeText } from './size-text.ts'
import { agoText, durationText, untilText } from './time-text.ts'

it.each([
  [0, '0s'],
  [-5, '0s'],
  [59.9, '59s'],
  [60, '1m'],
  [3725, '1h 2m'],
  [86_400 * 3 + 59, '3d'],
])('writes %s seconds as %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text)
})

it('writes times before and after now', () => {
  const now = Date.parse('2026-01-01T00:01:00Z')
  expect([agoText('2026-01-01T00:00:00Z', now), untilText('2026-01-01T00:01:30Z', now)]).toEqual(['1m ago', '30s'])
})

it.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1536, '1.5 KiB'],
  [300 * 1024 ** 2, '300 MiB'],
  [5 * 1024 ** 5, '5120 TiB'],
])('writes %s bytes as %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text)
})
