import { expect, it } from 'vitest'
import { canonicalJson } from './canonical-json.ts'

function nested(depth: number): unknown {
  return JSON.parse(`${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`)
}

it('ignores the order of fields at every level', () => {
  expect(canonicalJson({ b: [{ d: 1, c: null }], a: 'x' })).toBe('{"a":"x","b":[{"c":null,"d":1}]}')
  expect(canonicalJson({ b: [2, 1] })).not.toBe(canonicalJson({ b: [1, 2] }))
})

it('refuses values that are nested too deeply for the stack', () => {
  expect(canonicalJson(nested(64))).toMatch(/1/)
  expect(() => canonicalJson(nested(66))).toThrow('nested deeper than 64 levels')
  expect(() => canonicalJson(nested(500_000))).toThrow('nested deeper than 64 levels')
})
