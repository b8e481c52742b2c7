import { expect, it } from 'vitest'
import { Setbacks } from './setbacks.ts'

it('pauses a build longer after each failure, five minutes at most, and forgets failures of more than five minutes ago', () => {
  let now = 0
  const setbacks = new Setbacks(() => now)
  const pauseMs = (): number => {
    const began = now
    while (setbacks.isPaused('a')) now += 1000
    return now - began
  }
  expect(setbacks.isPaused('a')).toBe(false)
  const pauses = Array.from({ length: 8 }, () => {
    setbacks.add('a')
    expect(setbacks.isPaused('b')).toBe(false)
    return pauseMs()
  })
  expect(pauses).toEqual([5000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000])
  now += 300_000
  setbacks.add('a')
  expect(pauseMs()).toBe(300_000)
  now += 301_000
  setbacks.add('a')
  expect(pauseMs()).toBe(5000)
})

it('counts failures of starts that were in flight together once', () => {
  let now = 0
  const setbacks = new Setbacks(() => now)
  for (let start = 0; start < 16; start += 1) setbacks.add('a')
  now = 4999
  expect(setbacks.isPaused('a')).toBe(true)
  now = 5000
  expect(setbacks.isPaused('a')).toBe(false)
})
