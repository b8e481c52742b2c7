import { expect, it } from 'vitest'
import { isTooDeep } from './json-depth.ts'

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
const pad = ' '.repeat(10_000)

it.each([
  ['as deep as is read', nested(10_000), false],
  ['deeper', nested(10_001), true],
  ['objects', `${'{"a":'.repeat(10_001)}1${'}'.repeat(10_001)}`, true],
  ['deep only in a string', JSON.stringify({ text: nested(20_000) }), false],
  ['a string with quotes and backslashes', JSON.stringify({ text: `${'\\"['.repeat(20_000)}\\` }), false],
  ['deep behind such a string', `{"a":"\\\\\\"\\\\","b":${nested(10_001)}}`, true],
  ['wide', `[${'[],'.repeat(20_000)}[]]${pad}`, false],
  ['a string without an end', `"${'['.repeat(20_000)}`, false],
  ['a short text', '[['.repeat(4_000), false],
])('%s', (_case, text, expected) => {
  expect(isTooDeep(Buffer.from(text))).toBe(expected)
})
