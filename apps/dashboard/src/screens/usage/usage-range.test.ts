import { expect, test } from 'vitest'
import { rangeOf, timesOf } from './usage-range.ts'

test('a range ends with the hour that is running', () => {
  expect(timesOf('day', Date.parse('2026-03-02T10:20:30Z'))).toEqual({
    from: '2026-03-01T11:00:00.000Z',
    to: '2026-03-02T11:00:00.000Z',
    bucket: 'hour',
  })
})

test('an unknown range is a week', () => {
  expect(rangeOf('century')).toBe('week')
})
