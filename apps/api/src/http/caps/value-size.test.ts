import { expect, it } from 'vitest'
import { valueBytes } from './value-size.ts'

it('counts texts by their characters, and every value of an object or a list', () => {
  expect(valueBytes('x'.repeat(1000))).toBe(2064)
  expect(valueBytes({ a: 'x', list: [{}, {}, 1] })).toBeGreaterThan(6 * 64)
})

it('is near the memory of many small objects, which their text is not', () => {
  const text = JSON.stringify(Array.from({ length: 32_000 }, () => ({})))
  expect(valueBytes(JSON.parse(text))).toBeGreaterThan(20 * text.length)
})
