import { expect, it } from 'vitest'
import { quoted } from './quoted.ts'

it.each([
  ['plain é', '"plain é"'],
  ['a"b\\c', String.raw`"a\"b\\c"`],
  ['\r\n\t\0\x7f', String.raw`"\r\n\t\x00\x7f"`],
  ['\udcff', String.raw`"\xff"`],
])('%j is %s in a message', (text, expected) => {
  expect(quoted(text)).toBe(expected)
})
