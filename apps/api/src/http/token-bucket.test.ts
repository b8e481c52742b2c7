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
