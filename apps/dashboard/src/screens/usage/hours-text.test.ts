import { expect, test } from 'vitest'
import { hoursText } from './hours-text.ts'

test.each([
  [0, '0'],
  [0.0123, '0.012'],
  [4.46, '4.5'],
  [1204.31, '1,204.3'],
])('shows %d hours as %s', (hours, text) => {
  expect(hoursText(hours)).toBe(text)
})
