import { expect, it } from 'vitest'
import { Quota } from './quota.ts'

it('refuses what exceeds the cap of one owner or of all, and does not count it', () => {
  const quota = new Quota({ all: 3, one: 2 })
  expect([quota.take('a'), quota.take('a'), quota.take('a')]).toEqual([undefined, undefined, { of: 'one', limit: 2 }])
  expect([quota.take('b', 2), quota.take(undefined), quota.take('b')]).toEqual([
    { of: 'all', limit: 3 },
    undefined,
    { of: 'all', limit: 3 },
  ])
  quota.release('a', 2)
  quota.release(undefined)
  expect([quota.count, quota.take('b', 2), quota.count]).toEqual([0, undefined, 2])
})

it('refuses nobody what is guaranteed, whatever others use', () => {
  const quota = new Quota({ all: 100, one: 60, guaranteed: 20 })
  expect([quota.take('a', 60), quota.take('b', 40)]).toEqual([undefined, undefined])
  expect([quota.take('c', 20), quota.take('c'), quota.take('b')]).toEqual([undefined, { of: 'all', limit: 100 }, { of: 'all', limit: 100 }])
  expect(quota.take(undefined)).toEqual({ of: 'all', limit: 100 })
})
