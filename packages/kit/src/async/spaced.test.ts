import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { spaced } from './spaced.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('calls at once, and joins the calls within the gap into one at its end', () => {
  const work = vi.fn<() => void>()
  using call = spaced(100, work)
  call()
  expect(work).toHaveBeenCalledTimes(1)
  for (let i = 0; i < 5; i++) call()
  vi.advanceTimersByTime(99)
  expect(work).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(1)
  expect(work).toHaveBeenCalledTimes(2)
  vi.advanceTimersByTime(100)
  call()
  expect(work).toHaveBeenCalledTimes(3)
})

it('drops a call that waits when it is disposed of', () => {
  const work = vi.fn<() => void>()
  {
    using call = spaced(100, work)
    call()
    call()
  }
  vi.advanceTimersByTime(1000)
  expect(work).toHaveBeenCalledTimes(1)
})
