import { expect, it } from 'vitest'
import { UsageCheck } from './usage-check.ts'

const MIB = 1024 ** 2
const refs = ['a', 'b', 'c'].map((sandboxId) => ({ sandboxId, incarnation: 1, buildId: sandboxId === 'c' ? 'x' : 'y', shareMib: 16 }))
const usageOf = (cpuMs: Record<string, number>) =>
  new Map(Object.entries(cpuMs).map(([id, ms]) => [id, { memoryBytes: 20.5 * MIB, cpuMicroseconds: ms * 1000, pids: 2 }]))

it('finds the sandboxes that used more than a fifth of a processor between two readings', () => {
  const check = new UsageCheck()
  expect(check.judge(refs, usageOf({ a: 9000, b: 100 }), 0)).toEqual({
    busy: [],
    memoryMib: new Map([
      ['a', 21],
      ['b', 21],
    ]),
  })
  const next = check.judge(refs, usageOf({ a: 9100, b: 2200, c: 9000 }), 10_000)
  expect(next.busy).toEqual([refs[1]])
  expect([...next.memoryMib.keys()]).toEqual(['a', 'b', 'c'])
  expect(check.judge(refs, usageOf({ b: 2300, c: 10_900 }), 20_000).busy).toEqual([])
  expect(check.judge(refs, usageOf({ c: 13_000 }), 30_000).busy).toEqual([refs[2]])
})

it('counts a sandbox for its share, or for what it uses where that is more', () => {
  const [one = { sandboxId: '', incarnation: 1, buildId: '', shareMib: 0 }] = refs
  const check = new UsageCheck()
  for (const [shareMib, counted] of [
    [128, 128],
    [16, 21],
  ] as const)
    expect(check.judge([{ ...one, shareMib }], usageOf({ a: 0 }), 0).memoryMib).toEqual(new Map([['a', counted]]))
  expect(check.usedMib('y', 0)).toBe(21)
})

it('remembers for ten minutes the most that sandboxes of a build have used', () => {
  const check = new UsageCheck()
  const used = (mib: Record<string, number>) =>
    new Map(Object.entries(mib).map(([id, each]) => [id, { memoryBytes: each * MIB, cpuMicroseconds: 0, pids: 2 }]))
  expect(check.usedMib('y', 0)).toBe(0)
  check.judge(refs, used({ a: 300, b: 40, c: 20 }), 0)
  expect([check.usedMib('x', 0), check.usedMib('y', 0)]).toEqual([20, 300])
  check.judge(refs, used({ b: 50, c: 30 }), 300_000)
  expect([check.usedMib('x', 600_000), check.usedMib('y', 600_000)]).toEqual([30, 300])
  check.judge(refs, used({ b: 50 }), 600_001)
  expect([check.usedMib('x', 900_000), check.usedMib('y', 1_200_001)]).toEqual([30, 50])
  expect([check.usedMib('x', 900_001), check.usedMib('y', 1_200_002)]).toEqual([0, 0])
})
