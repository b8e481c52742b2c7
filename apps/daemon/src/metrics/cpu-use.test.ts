import { expect, it } from 'vitest'
import { CpuUse } from './cpu-use.ts'

it('is the part of all CPUs since the last call, and since the start at first', () => {
  const use = new CpuUse()
  const samples = [
    { cpuNanoseconds: 1e9, atMs: 1000, expected: 50 },
    { cpuNanoseconds: 3e9, atMs: 2000, expected: 100 },
    { cpuNanoseconds: 3e9, atMs: 2500, expected: 0 },
    { cpuNanoseconds: 3.001e9, atMs: 2800, expected: 0.17 },
  ]
  for (const { expected, ...sample } of samples) expect(use.next(sample, 2)).toBe(expected)
})

it('stays between 0 and 100', () => {
  const use = new CpuUse()
  expect(use.next({ cpuNanoseconds: 5e9, atMs: 1000 }, 2)).toBe(100)
  expect(use.next({ cpuNanoseconds: 6e9, atMs: 1000 }, 2)).toBe(0)
  expect(use.next({ cpuNanoseconds: 1e9, atMs: 2000 }, 2)).toBe(0)
})
