import { describe, it } from 'vitest'
import type { ContractBench } from './contract-bench.ts'

export function describeFreezing(bench: () => ContractBench): void {
  describe('freeze and thaw', () => {
    it('freezes and thaws a sandbox repeatedly without changing it', async ({ expect, skip }) => {
      const on = bench()
      skip(!on.runtime.capabilities().freeze, 'this runtime cannot freeze')
      const { spec, endpoint, inside } = await on.start()
      await inside.writeFile('/root/kept', 'yes')
      for (let round = 0; round < 2; round += 1) {
        await on.runtime.freeze(spec)
        await on.runtime.freeze(spec)
        await on.untilState(spec, 'frozen')
        expect((await on.runtime.usage([spec])).get(spec.sandboxId)?.pids).toBeGreaterThan(0)
        expect(await on.runtime.thaw(spec)).toEqual(endpoint)
        expect(await on.runtime.thaw(spec)).toEqual(endpoint)
        await on.untilState(spec, 'running')
        expect(await inside.readFile('/root/kept')).toBe('yes')
      }
    })

    it('removes a frozen sandbox', async ({ expect, skip }) => {
      const on = bench()
      skip(!on.runtime.capabilities().freeze, 'this runtime cannot freeze')
      const { spec } = await on.start()
      await on.runtime.freeze(spec)
      await on.runtime.remove(spec)
      expect(await on.stateOf(spec)).toBeUndefined()
    })

    it('rejects an absent sandbox with not_found', async ({ expect }) => {
      const on = bench()
      await expect(on.runtime.freeze(on.spec())).rejects.toMatchObject({ kind: 'not_found' })
      await expect(on.runtime.thaw(on.spec())).rejects.toMatchObject({ kind: 'not_found' })
    })
  })
}
