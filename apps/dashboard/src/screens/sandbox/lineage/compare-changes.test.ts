import { expect, it } from 'vitest'
import { compareChanges } from './compare-changes.ts'

it('lists each path once, with what happened to it on both sides', () => {
  const here = [
    { path: '/b', kind: 'modified' },
    { path: '/a', kind: 'added' },
  ] as const
  const there = [
    { path: '/c', kind: 'deleted' },
    { path: '/b', kind: 'added' },
  ] as const
  expect(compareChanges(here, there)).toEqual([
    { path: '/a', here: 'added', there: undefined },
    { path: '/b', here: 'modified', there: 'added' },
    { path: '/c', here: undefined, there: 'deleted' },
  ])
})
