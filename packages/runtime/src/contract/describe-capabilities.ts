import { describe, it } from 'vitest'
import { randomId } from '@sandyard/kit/ids/ids'
import { DEFAULT_EGRESS, type EgressPolicy } from '../types.ts'
import type { ContractBench } from './contract-bench.ts'

const CLOSED: EgressPolicy = { ...DEFAULT_EGRESS, allowInternet: false }

export function describeCapabilities(bench: () => ContractBench): void {
  describe('what a runtime does not have', () => {
    it('is refused, and nothing is created', async ({ expect }) => {
      const on = bench()
      const { mounts, egressPolicies, pause, snapshot } = on.runtime.capabilities()
      const refused = { kind: 'unimplemented' }
      if (!mounts) {
        const volume = { volume: 'v', path: '/data', readOnly: false }
        await expect(on.runtime.create(on.spec({ mounts: [volume] }))).rejects.toMatchObject(refused)
      }
      if (!egressPolicies) await expect(on.runtime.create(on.spec({ egress: CLOSED }))).rejects.toMatchObject(refused)
      expect(await on.runtime.list()).toEqual([])

      const { spec } = await on.start()
      if (!egressPolicies) await expect(on.runtime.setEgress(spec, CLOSED)).rejects.toMatchObject(refused)
      if (pause === 'files') await expect(on.runtime.pause(spec, 'memory')).rejects.toMatchObject(refused)
      if (snapshot !== 'memory') {
        const request = { name: `snap-${randomId(8)}`, keep: 'memory' } as const
        await expect(on.runtime.snapshot(spec, request)).rejects.toMatchObject(refused)
      }
      expect(await on.stateOf(spec)).toBe('running')
    })

    it('is accepted where a runtime has it', async ({ expect }) => {
      const on = bench()
      const { egressPolicies } = on.runtime.capabilities()
      expect((await on.start()).endpoint).toBeDefined()
      if (!egressPolicies) return
      const { spec } = await on.start({ egress: CLOSED })
      await expect(on.runtime.setEgress(spec, { ...CLOSED, allowOut: ['203.0.113.7'] })).resolves.toBeUndefined()
      await expect(on.runtime.setEgress(on.spec(), CLOSED)).rejects.toMatchObject({ kind: 'not_found' })
    })
  })
}
