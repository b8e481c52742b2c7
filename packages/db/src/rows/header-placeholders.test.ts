import { expect, it } from 'vitest'
import { readHeaderParts, type HeaderPart } from './header-placeholders.ts'

it.each<[string, HeaderPart[] | undefined]>([
  ['', []],
  ['plain ${HOME} {e2b.}', ['plain ${HOME} {e2b.}']],
  ['${e2b.secrets.My_Key-1}', [{ secret: 'my_key-1' }]],
  ['Bearer ${e2b.identity.tokens.a b} end', ['Bearer ', { token: 'a b' }, ' end']],
  ['${e2b.secrets.a}${e2b.secrets.b}', [{ secret: 'a' }, { secret: 'b' }]],
  ['${e2b.secrets.a', undefined],
  ['${e2b.secrets.}', undefined],
  ['${e2b.other.a}', undefined],
  ['${e2b.secrets.a}${e2b.', undefined],
  ['${e2b.secrets.${e2b.secrets.a}}', undefined],
  ['${e2b.identity.tokens.}', undefined],
])('the parts of %s', (value, parts) => {
  expect(readHeaderParts(value)).toEqual(parts)
})
