import { expect, it } from 'vitest'
import { parseChanges, withoutParents } from './parse-changes.ts'

const LIST = [
  { Path: '/a', Kind: 0 },
  { Path: '/a/"},{"Path":"/x","Kind":1}', Kind: 1 },
  { Path: '/ü', Kind: 2 },
]

it('reads whole changes only, wherever the answer is cut', () => {
  const whole = Buffer.from(JSON.stringify(LIST))
  const all = parseChanges({ bytes: whole, isCut: false })
  expect(all).toEqual([
    { path: '/a', kind: 'modified' },
    { path: '/a/"},{"Path":"/x","Kind":1}', kind: 'added' },
    { path: '/ü', kind: 'deleted' },
  ])
  const counts = new Set<number>()
  for (let length = 0; length < whole.length; length += 1) {
    const some = parseChanges({ bytes: whole.subarray(0, length), isCut: true })
    expect(some).toEqual(all.slice(0, some.length))
    counts.add(some.length)
  }
  expect([...counts]).toEqual([0, 1, 2])
})

it('reads an empty answer, and leaves out kinds that it does not know', () => {
  expect(parseChanges({ bytes: Buffer.from('null\n'), isCut: false })).toEqual([])
  expect(parseChanges({ bytes: Buffer.from('[{"Path":"/a","Kind":7}]'), isCut: false })).toEqual([])
})

it('leaves out folders that are listed for what is in them', () => {
  const changes = [
    { path: '/a', kind: 'modified' },
    { path: '/a/b', kind: 'modified' },
    { path: '/a/b/c', kind: 'deleted' },
    { path: '/d', kind: 'modified' },
    { path: '/e', kind: 'added' },
    { path: '/e/f', kind: 'added' },
  ] as const
  expect(withoutParents(changes).map(({ path }) => path)).toEqual(['/a/b/c', '/d', '/e', '/e/f'])
})
