import { expect, it } from 'vitest'
import { toResults } from '../results-file.ts'
import { axisOf } from './axis.ts'
import { renderPage } from './page.ts'

const machine = { date: '2026-01-01T00:00:00.000Z', cpus: 2, model: 'A <b>', memoryMib: 1024, kernel: '6', node: 'v24' }
const goal = { of: 'ratio', at: ['p50'], atMost: 2 } as const

it('shows every row with its distribution, its quantiles and whether its goal was met, without scripts', () => {
  const many = Array.from({ length: 5000 }, (_, index) => index + 1)
  const results = toResults(machine, [
    { bench: 'create', what: 'a <create>', unit: 'ms', ours: [1, 2, 3], against: { name: 'engine', samples: [1, 1, 1] }, goal },
    { bench: 'exec', what: 'many', unit: 'us', ours: many, against: { name: 'other', samples: [1] }, goal },
  ])
  const page = renderPage(results)
  expect(page).toContain('1 goals met')
  expect(page).toContain('1 missed')
  expect(page).toContain('a &lt;create&gt;')
  expect(page).not.toMatch(/<script|<link|src=|<create>|A <b>/)
  // Dots for the few, bars for the many, and marks for both sides of both.
  expect(page.match(/<circle /g)).toHaveLength(7)
  expect(page.match(/<rect /g)?.length).toBeGreaterThan(20)
  expect(page.match(/class="mark p99"/g)).toHaveLength(4)
})

it('stores at most 2,000 samples of a series, and summarises all of them', () => {
  const ours = Array.from({ length: 5000 }, (_, index) => index)
  const { comparisons, rows } = toResults(machine, [{ what: 'x', unit: 'ms', ours }])
  expect(comparisons[0]?.ours.length).toBeLessThanOrEqual(2000)
  expect(rows[0]).toMatchObject({ n: 5000, ours: { p50: 2500, p99: 4950 } })
})

it.each<[string, number[], boolean]>([
  ['a small range', [3, 9.5], false],
  ['a wide range', [0.4, 900], true],
  ['differences', [-0.5, 2], false],
  ['one value', [5], false],
  ['nothing', [], false],
  ['zeros', [0, 0], false],
])('has an axis with all values of %s', (_name, values, isLogarithmic) => {
  const axis = axisOf(values)
  expect(axis.isLogarithmic).toBe(isLogarithmic)
  expect(axis.ticks.length).toBeGreaterThan(1)
  expect(axis.ticks.length).toBeLessThan(14)
  const [first = 0, last = 0] = [axis.ticks[0], axis.ticks.at(-1)]
  for (const value of values) expect(value >= first && value <= last).toBe(true)
  expect([axis.position(first), axis.position(last)]).toEqual([0, 1])
})
