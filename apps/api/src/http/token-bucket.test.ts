import { expect, it } from 'vitest'
import { TokenBuckets } from './token-bucket.ts'

it('allows a burst, and then requests at the rate', () => {
  const buckets = new TokenBuckets()
  const limit = { rate: 1, periodSeconds: 2, burst: 3 }
  const take = (now: number) => buckets.take('a', limit, now)
  expect([take(0), take(0), take(0)].map(({ isAllowed, remaining }) => [isAllowed, remaining])).toEqual([
    [true, 2],
    [true, 1],
    [true, 0],
  ])
  expect(take(500)).toEqual({ isAllowed: false, remaining: 0, resetSeconds: 6, retryAfterSeconds: 2 })
  expect(take(2000)).toMatchObject({ isAllowed: true, remaining: 0 })
  expect(buckets.take('b', limit, 2000).isAllowed).toBe(true)
  expect(take(60_000)).toMatchObject({ isAllowed: true, remaining: 2, resetSeconds: 2 })
})

it('keeps a number of buckets, and forgets the one that was not used for longest', () => {
  const buckets = new TokenBuckets()
  const limit = { rate: 1, periodSeconds: 3600, burst: 1 }
  const take = (key: string): boolean => buckets.take(key, limit, 0).isAllowed
  expect([take('first'), take('second')]).toEqual([true, true])
  for (let other = 2; other < 20_000; other += 1) take(`other-${other}`)
  expect([take('first'), take('second')]).toEqual([false, false])
  take('one more')
  expect([take('other-3'), take('other-2')]).toEqual([false, true])
})
