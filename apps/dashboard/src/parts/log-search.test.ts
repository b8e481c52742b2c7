import { expect, it } from 'vitest'
import { appendRows, findRows, markedPieces, matchAfter, prependRows, rowsOfLevel, type LogRow } from './log-search.ts'

const row = (key: number, text = `line ${key}`, level: LogRow['level'] = 'info'): LogRow => ({ key: String(key), at: key, level, text })

it('finds rows by their text, label and fields, whatever the case', () => {
  const rows = [row(1, 'Hello'), row(2, 'other'), { ...row(3, 'x'), label: 'HELLO' }, { ...row(4, 'y'), fields: { user: 'hello' } }]
  expect(findRows(rows, 'hELLo')).toEqual([0, 2, 3])
  expect(findRows(rows, 'user=hello')).toEqual([3])
  expect(findRows(rows, '')).toEqual([])
})

it('keeps rows of a level and the more severe ones', () => {
  const rows = [row(1, 'a', 'debug'), row(2, 'b', 'warn'), row(3, 'c', 'error')]
  expect(rowsOfLevel(rows, 'warn').map(({ text }) => text)).toEqual(['b', 'c'])
  expect(rowsOfLevel(rows, 'debug')).toBe(rows)
})

it('gives the next match, and the first one after the last', () => {
  expect(matchAfter([2, 5, 9], 0)).toBe(0)
  expect(matchAfter([2, 5, 9], 3)).toBe(1)
  expect(matchAfter([2, 5, 9], 9)).toBe(2)
  expect(matchAfter([2, 5, 9], 10)).toBe(0)
})

it('cuts a text at its matches', () => {
  expect(markedPieces('An AN an', 'an')).toEqual(['', 'An', ' ', 'AN', ' ', 'an', ''])
  expect(markedPieces('abc', '')).toEqual(['abc'])
})

it('appends rows once, and drops the oldest beyond the most', () => {
  const rows = appendRows([row(1), row(2)], [row(2), row(3)], 100)
  expect(rows.map(({ key }) => key)).toEqual(['1', '2', '3'])
  expect(appendRows(rows, [row(4)], 2).map(({ key }) => key)).toEqual(['3', '4'])
  expect(appendRows(rows, [row(3)], 100)).toBe(rows)
})

it('prepends older rows as far as there is room', () => {
  expect(prependRows([row(3)], [row(1), row(2), row(3)], 100).map(({ key }) => key)).toEqual(['1', '2', '3'])
  expect(prependRows([row(3)], [row(1), row(2)], 2).map(({ key }) => key)).toEqual(['2', '3'])
})
