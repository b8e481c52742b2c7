import { expect, it } from 'vitest'
import { isOlderRelease, RELEASE } from './release.ts'

it('is a version of three numbers', () => {
  expect(RELEASE).toMatch(/^\d+\.\d+\.\d+/)
})

it.each([
  ['0.1.0', '0.2.0', true],
  ['0.9.0', '0.10.0', true],
  ['0.2.9', '1.0.0', true],
  ['1.0.0', '0.9.9', false],
  ['0.2.0', '0.2.0', false],
  ['0.2.0-rc.1', '0.2.0', false],
])('%s is older than %s: %s', (one, other, isOlder) => {
  expect(isOlderRelease(one, other)).toBe(isOlder)
})
