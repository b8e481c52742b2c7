import { describe, it } from 'vitest'
import type { ContractBench } from './contract-bench.ts'

const inTime = (): AbortSignal => AbortSignal.timeout(20_000)

export function describeEngine(bench: () => ContractBench): void {
  describe('the engine', () => {
    it('answers a ping', async ({ expect }) => {
      const on = bench()
      await expect(on.runtime.ping(inTime())).resolves.toBeUndefined()
    })

    it('describes its disk, its memory and the restarts of its guard', async ({ expect }) => {
      const { guardRestarts, disk, memory } = await bench().runtime.vitals(inTime())
      expect(guardRestarts).toBe(0)
      if (disk === undefined) throw new Error('the disk is not known')
      expect(disk.freeBytes).toBeGreaterThan(0)
      expect(disk.sizeBytes).toBeGreaterThan(disk.freeBytes)
      if (memory === undefined) throw new Error('the memory is not known')
      expect(memory.availableBytes).toBeGreaterThan(0)
      expect(memory.totalBytes).toBeGreaterThan(memory.availableBytes)
    })

    it('says what machine it runs sandboxes on', async ({ expect }) => {
      const { runtime } = bench()
      const { processors, memoryBytes } = runtime.host()
      expect(processors).toBeGreaterThanOrEqual(1)
      const { memory } = await runtime.vitals(inTime())
      expect(memoryBytes).toBe(memory?.totalBytes)
    })

    it('returns the same id to all its runtimes, also to concurrent calls', async ({ expect }) => {
      const on = bench()
      const asked = [on.runtime, on.other, on.runtime, on.other].map((runtime) => runtime.engineId(inTime()))
      const [first, ...others] = await Promise.all(asked)
      expect(first).toMatch(/^[a-z0-9]{32}$/)
      expect(new Set(others)).toEqual(new Set([first]))
      expect(await on.runtime.engineId(inTime())).toBe(first)
    })

    it('rejects a call whose signal has aborted', async ({ expect }) => {
      const on = bench()
      const reason = new Error('aborted by the test')
      await expect(on.runtime.ping(AbortSignal.abort(reason))).rejects.toBe(reason)
      await expect(on.runtime.vitals(AbortSignal.abort(reason))).rejects.toBe(reason)
      await expect(on.runtime.engineId(AbortSignal.abort(reason))).rejects.toBe(reason)
    })
  })
}
