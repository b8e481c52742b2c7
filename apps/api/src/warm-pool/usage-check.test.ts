import { expect, it } from 'vitest'
import { UsageCheck } from './usage-check.ts'

const MIB = 1024 ** 2
const refs = ['a', 'b', 'c'].map((sandboxId) => ({ sandboxId, incarnation: 1 }))
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
