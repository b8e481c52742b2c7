import { expect, it } from 'vitest'
import { foldTime, placeOf } from './fold-time.ts'

const at = (fromMs: number, toMs = fromMs) => ({ fromMs, toMs })

it('folds only what is idle for longer than the limit', () => {
  const stretches = foldTime([at(0, 1000), at(2000), at(100_000, 101_000)], 0, 101_000, 10_000)
  expect(stretches.map(({ isFolded }) => isFolded)).toEqual([false, true, false])
  expect(stretches[1]?.width).toBeCloseTo(0.03)
  expect(stretches.reduce((sum, { width }) => sum + width, 0)).toBeCloseTo(1)
})

it('keeps room around an event', () => {
  const [before] = foldTime([at(0), at(500_000)], 0, 1_000_000, 10_000)
  expect(before?.toMs).toBe(2500)
})

it('places instants in order, whether folded or not', () => {
  const stretches = foldTime([at(0), at(50_000), at(200_000)], 0, 200_000, 10_000)
  const places = [0, 1000, 30_000, 50_000, 120_000, 200_000].map((ms) => placeOf(stretches, ms))
  expect(places).toEqual([...places].sort((one, other) => one - other))
  expect(places[0]).toBe(0)
  expect(places.at(-1)).toBeCloseTo(1)
})

it('gives folds no more than half of the bar', () => {
  const spans = Array.from({ length: 100 }, (_, index) => at(index * 1_000_000))
  const stretches = foldTime(spans, 0, 99_000_000, 10_000)
  const folded = stretches.filter(({ isFolded }) => isFolded).reduce((sum, { width }) => sum + width, 0)
  expect(folded).toBeCloseTo(0.5)
})

it('has one stretch when nothing happened for no time', () => {
  expect(foldTime([], 5, 5, 1000)).toEqual([{ fromMs: 5, toMs: 5, isFolded: false, start: 0, width: 1 }])
})
