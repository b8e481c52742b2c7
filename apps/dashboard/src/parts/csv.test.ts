import { expect, test } from 'vitest'
import { csvOf } from './csv.ts'

test('quotes what has separators, quotes or line ends', () => {
  expect(csvOf([['a,b', 'c"d', 'e\nf', 1.5, null]])).toBe('"a,b","c""d","e\nf",1.5,\r\n')
})

test('a formula is a text', () => {
  expect(csvOf([['=1+1', '-x', -2]])).toBe("'=1+1,'-x,-2\r\n")
})
