import { expect, test } from 'vitest'
import { matchItems } from './match-items.ts'

const items = [{ label: 'Go to Sandboxes' }, { label: 'New sandbox' }, { label: 'Colours: Dark' }]

test('finds items that have every word, in any order and case', () => {
  expect(matchItems(items, 'SAND go')).toEqual([{ label: 'Go to Sandboxes' }])
  expect(matchItems(items, ' sand ')).toHaveLength(2)
  expect(matchItems(items, '')).toEqual(items)
  expect(matchItems(items, 'nothing')).toEqual([])
})
