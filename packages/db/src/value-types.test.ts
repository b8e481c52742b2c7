import { expect, it } from 'vitest'
import { readInt8 } from './value-types.ts'

it('reads bigints as numbers and refuses inexact ones', () => {
  expect(readInt8('9007199254740991')).toBe(9_007_199_254_740_991)
  expect(() => readInt8('9007199254740992')).toThrow('beyond the safe integers')
})
