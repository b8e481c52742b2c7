import { expect, test } from 'vitest'
import { areaPath, niceTop } from './chart-path.ts'

test('draws a step for each share', () => {
  expect(areaPath([0.5, 1], { width: 100, height: 10 })).toBe('M0 10L0 5H50L50 0H100V10Z')
  expect(areaPath([], { width: 100, height: 10 })).toBe('')
})

test('ends a scale at a round number', () => {
  expect([0, 1, 5, 6, 14, 40, 99, 120].map(niceTop)).toEqual([1, 1, 5, 10, 20, 50, 100, 200])
})
