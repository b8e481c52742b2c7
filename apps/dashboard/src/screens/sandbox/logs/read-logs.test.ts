import { expect, it } from 'vitest'
import type { LogRow } from '../../../parts/log-search.ts'
import { joinSnapshot, newOlderRows } from './read-logs.ts'

const row = (key: string, at: number, text = key): LogRow => ({ key, at, level: 'info', text })
const entry = (at: number, message: string) => ({ timestamp: new Date(at).toISOString(), level: 'info' as const, message, fields: {} })

it('continues the lines that are there with a new snapshot', () => {
  const rows = [row('a', 1), row('b', 2), row('c', 3)]
  expect(joinSnapshot(rows, [row('b', 2), row('c', 3), row('d', 4)]).map(({ key }) => key)).toEqual(['a', 'b', 'c', 'd'])
})

it('replaces the lines when the snapshot does not continue them', () => {
  expect(joinSnapshot([row('a', 1)], [row('x', 9)]).map(({ key }) => key)).toEqual(['x'])
})

it('adds older lines once, in order, although the cursor includes a millisecond that is there', () => {
  const rows = [row('b', 20, 'same'), row('c', 30)]
  const older = newOlderRows([entry(20, 'same'), entry(20, 'same'), entry(10, 'first')], rows)
  expect(older.map(({ at, text }) => `${at} ${text}`)).toEqual(['10 first', '20 same'])
})
