import { expect, it } from 'vitest'
import { rowsInView } from './use-fixed-rows.ts'

it('gives the rows in view and some beyond', () => {
  expect(rowsInView(1000, 24, { top: 2400, height: 240 })).toEqual({ from: 80, to: 130 })
  expect(rowsInView(1000, 24, { top: 0, height: 240 })).toEqual({ from: 0, to: 30 })
})

it('stays within the rows when there are fewer than before', () => {
  expect(rowsInView(3, 24, { top: 24_000, height: 240 })).toEqual({ from: 0, to: 3 })
  expect(rowsInView(0, 24, { top: 0, height: 240 })).toEqual({ from: 0, to: 0 })
})
