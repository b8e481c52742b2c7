import { expect, it } from 'vitest'
import { FirstEntries } from './first-entries.ts'

const ENTRIES: readonly { readonly name: string; readonly size?: number }[] = [
  { name: 'a"}{\\' },
  { name: 'ü },{' },
  { name: '' },
  { name: 'last', size: 3 },
]

function read(chunkBytes: number, { maxEntries = 100, maxBytes = 10_000, entries = ENTRIES } = {}) {
  const first = new FirstEntries({ maxEntries, maxBytes })
  const bytes = Buffer.from(JSON.stringify(entries))
  for (let at = 0; at < bytes.length && !first.isCut; at += chunkBytes) first.add(bytes.subarray(at, at + chunkBytes))
  return { entries: JSON.parse(first.text()) as unknown, isCut: first.isCut }
}

it.each([1, 2, 7, 1000])('returns all entries of chunks of %i bytes', (chunkBytes) => {
  expect(read(chunkBytes)).toEqual({ entries: ENTRIES, isCut: false })
  expect(read(chunkBytes, { maxEntries: 4 })).toEqual({ entries: ENTRIES, isCut: false })
  expect(read(chunkBytes, { entries: [] })).toEqual({ entries: [], isCut: false })
})

it.each([1, 2, 7, 1000])('returns the first entries of chunks of %i bytes', (chunkBytes) => {
  expect(read(chunkBytes, { maxEntries: 2 })).toEqual({ entries: ENTRIES.slice(0, 2), isCut: true })
  const maxBytes = Buffer.byteLength(JSON.stringify(ENTRIES.slice(0, 3))) - 1
  expect(read(chunkBytes, { maxBytes })).toEqual({ entries: ENTRIES.slice(0, 3), isCut: true })
  expect(read(chunkBytes, { maxBytes: 3 })).toEqual({ entries: [], isCut: true })
})
