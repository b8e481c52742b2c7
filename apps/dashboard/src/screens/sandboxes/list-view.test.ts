import { expect, test } from 'vitest'
import { DEFAULT_VIEW, LIVE_STATES, readView, sortBy, toFilter, toQuery, viewText, type ListView } from './list-view.ts'

const FULL: ListView = {
  states: ['running', 'ended'],
  search: 'a b&c',
  template: 'team/web',
  metadata: [
    ['run', '88=12'],
    ['ä&b', 'ü'],
  ],
  since: '6h',
  keyId: '0b7f3f0e-8f0c-4a6e-9d59-0a3f1c2b4d5e',
  minCpu: 2,
  minMemoryMib: 512,
  sort: 'expires',
  order: 'asc',
}

const read = (text: string): ListView => readView(Object.fromEntries(new URLSearchParams(text)))

test('has an empty text for the default view', () => {
  expect(viewText(DEFAULT_VIEW)).toBe('')
  expect(read('')).toEqual(DEFAULT_VIEW)
})

test('comes back from its own text with every filter', () => {
  expect(read(viewText(FULL))).toEqual(FULL)
})

test('leaves out what it does not understand', () => {
  const junk = read('state=flying,%00&since=2y&keyId=1%27&minCpu=-1&minMemoryMib=1e9&sort=id&order=up&else=1')
  expect(junk).toEqual(DEFAULT_VIEW)
})

test('keeps the known states of a list', () => {
  expect(read('state=ended,flying,running').states).toEqual(['running', 'ended'])
  expect(LIVE_STATES).not.toContain('ended')
})

test('asks the server for instants on the minute, so that equal views are equal topics', () => {
  const at = Date.parse('2026-11-23T12:00:31.500Z')
  expect(toFilter(FULL, at)).toEqual({
    state: 'running,ended',
    search: 'a b&c',
    template: 'team/web',
    metadata: 'run=88%3D12&%C3%A4%26b=%C3%BC',
    startedAfter: '2026-11-23T06:00:00.000Z',
    keyId: FULL.keyId,
    minCpu: 2,
    minMemoryMib: 512,
  })
  expect(toQuery(FULL, at, 200)).toEqual(toQuery(FULL, at + 20_000, 200))
})

test('sorts by another column, and the same one the other way round', () => {
  expect(sortBy(DEFAULT_VIEW, 'template')).toMatchObject({ sort: 'template', order: 'asc' })
  expect(sortBy(DEFAULT_VIEW, 'started')).toMatchObject({ sort: 'started', order: 'asc' })
  expect(sortBy({ ...DEFAULT_VIEW, sort: 'template' }, 'started')).toMatchObject({ sort: 'started', order: 'desc' })
  expect(sortBy(DEFAULT_VIEW, 'nothing')).toBe(DEFAULT_VIEW)
})
