import { expect, it } from 'vitest'
import { quote } from './sandbox-errors.ts'

it.each([
  ['i0abc', '"i0abc"'],
  ['a"b\\c', '"a\\"b\\\\c"'],
  ['a\nb\u0001', '"a\\nb\\x01"'],
  ['ü日', '"ü日"'],
])('quotes %j', (text, quoted) => expect(quote(text)).toBe(quoted))
