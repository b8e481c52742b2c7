import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ProgressDeadline } from './progress-deadline.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('lets work go on for any time while it makes progress, and ends it once when it stands still', () => {
  const onStill = vi.fn<() => void>()
  using deadline = new ProgressDeadline(1000, onStill)
  for (let count = 0; count < 100; count += 1) {
    vi.advanceTimersByTime(999)
    deadline.heard()
  }
  expect(onStill).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1000)
  expect(onStill).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(10_000)
  expect(onStill).toHaveBeenCalledTimes(1)
})

it('ends nothing after it was disposed of', () => {
  const onStill = vi.fn<() => void>()
  new ProgressDeadline(1000, onStill)[Symbol.dispose]()
  vi.advanceTimersByTime(10_000)
  expect(onStill).not.toHaveBeenCalled()
})
