import { expect, it } from 'vitest'
import { pausedBands, rangeOf, toSeries, withSample } from './samples.ts'

const sample = (at: number, cpuPct = 1) => ({
  at,
  cpuPct,
  memoryUsedBytes: 10,
  memoryCacheBytes: 2,
  memoryTotalBytes: 100,
  diskUsedBytes: 5,
  diskTotalBytes: 50,
})

it('adds newer samples only', () => {
  const samples = withSample([sample(1000)], sample(2000))
  expect(samples.map(({ at }) => at)).toEqual([1000, 2000])
  expect(withSample(samples, sample(2000))).toBe(samples)
  expect(withSample(samples, sample(500))).toBe(samples)
})

it('draws a hole where there were no samples for long', () => {
  const series = toSeries([sample(0), sample(5000), sample(600_000)])
  expect(series.at).toEqual([0, 5, 6, 600])
  expect(series.cpuPct).toEqual([1, 1, null, 1])
  expect(series.memoryTotal).toBe(100)
})

it('knows when the sandbox was paused', () => {
  const entry = { id: '1', lane: 'lifecycle' as const, kind: 'sandbox.paused', text: '', at: '1970-01-01T00:00:10Z' }
  expect(pausedBands([{ ...entry, endedAt: '1970-01-01T00:00:20Z' }, { ...entry, endedAt: null }, entry], 60_000)).toEqual([
    [10, 20],
    [10, 60],
  ])
})

it('makes ranges of presets', () => {
  expect(rangeOf('all', null, 0)).toEqual({})
  expect(rangeOf('last5', null, 1_000_000)).toEqual({ start: 700 })
  expect(rangeOf('first5', '1970-01-01T00:01:00Z', 0)).toEqual({ start: 60, end: 360 })
  expect(rangeOf('first5', null, 0)).toEqual({})
})
