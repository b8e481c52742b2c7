import { expect, test } from 'vitest'
import { selectRow } from './select-rows.ts'

const order = ['a', 'b', 'c', 'd']

test('ticks and unticks one row', () => {
  const one = selectRow(new Set(), { id: 'b', last: undefined, isRange: false, order })
  expect([...one]).toEqual(['b'])
  expect([...selectRow(one, { id: 'b', last: 'b', isRange: false, order })]).toEqual([])
})

test('ticks all rows between two clicks, in both directions', () => {
  expect([...selectRow(new Set(['d']), { id: 'b', last: 'd', isRange: true, order })].toSorted()).toEqual(['b', 'c', 'd'])
  expect([...selectRow(new Set(['a']), { id: 'c', last: 'a', isRange: true, order })].toSorted()).toEqual(['a', 'b', 'c'])
})

test('ticks one row when the other end is not shown any more', () => {
  expect([...selectRow(new Set(), { id: 'b', last: 'gone', isRange: true, order })]).toEqual(['b'])
})
