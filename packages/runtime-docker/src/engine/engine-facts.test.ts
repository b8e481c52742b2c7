import { availableParallelism, totalmem } from 'node:os'
import { expect, it } from 'vitest'
import { readHost } from './engine-facts.ts'

it('the machine of an engine is the one that it describes, wherever this process runs', () => {
  expect(readHost({ NCPU: 640, MemTotal: 3 * 1024 ** 4 })).toEqual({ processors: 640, memoryBytes: 3 * 1024 ** 4 })
})

it('an engine that cannot describe its machine is taken for one on this machine', () => {
  const here = { processors: availableParallelism(), memoryBytes: totalmem() }
  expect([readHost({}), readHost({ NCPU: 0, MemTotal: 0 })]).toEqual([here, here])
})
