import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Lull } from './lull.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function lullOf(): { readonly lull: Lull; readonly lulls: number[] } {
  const lulls: number[] = []
  const began = performance.now()
  return { lull: new Lull({ quietMs: 100, longestMs: 350, onLull: () => lulls.push(performance.now() - began) }), lulls }
}

it('begins when nothing has happened for a while', () => {
  const { lull, lulls } = lullOf()
  expect(lull.isNow).toBe(true)
  lull.disturb()
  vi.advanceTimersByTime(60)
  lull.disturb()
  vi.advanceTimersByTime(60)
  expect([lull.isNow, lulls]).toEqual([false, []])
  vi.advanceTimersByTime(40)
  expect([lull.isNow, lulls]).toEqual([true, [160]])
})

it('begins at the longest wait, even when there are further disturbances', () => {
  const { lull, lulls } = lullOf()
  for (let at = 0; at < 700; at += 50) {
    lull.disturb()
    vi.advanceTimersByTime(50)
  }
  expect(lulls).toEqual([350, 700])
})

it('does nothing after its end', () => {
  const { lull, lulls } = lullOf()
  lull.disturb()
  lull[Symbol.dispose]()
  vi.advanceTimersByTime(1000)
  expect(lulls).toEqual([])
})

it('lets work that waits for it go on, at the latest at its end', async () => {
  const { lull } = lullOf()
  await lull.reached()
  const reached: string[] = []
  const wait = (name: string): Promise<number> => lull.reached().then(() => reached.push(name))
  lull.disturb()
  const first = wait('first')
  await vi.advanceTimersByTimeAsync(60)
  expect(reached).toEqual([])
  await vi.advanceTimersByTimeAsync(40)
  await first
  lull.disturb()
  const last = wait('last')
  lull[Symbol.dispose]()
  await last
  expect(reached).toEqual(['first', 'last'])
})
