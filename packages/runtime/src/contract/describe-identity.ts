import { describe, it } from 'vitest'
import { randomId } from '@sandyard/kit/ids/ids'
import { secretDigest } from '@sandyard/kit/secrets/secret-digest'
import type { ContractBench } from './contract-bench.ts'

export function describeIdentity(bench: () => ContractBench): void {
  describe('the instance key', () => {
    it('reaches the sandbox as a digest only', async ({ expect }) => {
      const { spec, inside } = await bench().start()
      const text = await inside.instanceFile()
      expect(text).toContain(secretDigest(spec.instanceKey.reveal()))
      expect(text).not.toContain(spec.instanceKey.reveal())
    })

    it('is the same after a resume from files', async ({ expect }) => {
      const on = bench()
      const { spec } = await on.start()
      const handle = await on.runtime.pause(spec, 'files')
      const { endpoint } = await on.runtime.resume(handle, { spec, keep: 'files' })
      expect(await on.inside(spec, endpoint).instanceFile()).toContain(secretDigest(spec.instanceKey.reveal()))
    })

    it('is its own in a sandbox from a snapshot, and in the next start', async ({ expect, skip }) => {
      const on = bench()
      skip(on.runtime.capabilities().snapshot === 'none', 'this runtime has no snapshots')
      const first = await on.start()
      const snapshot = await on.runtime.snapshot(first.spec, { name: `snap-${randomId(8)}`, keep: 'files' })
      for (const spec of [on.spec(), on.spec({ sandboxId: first.spec.sandboxId, incarnation: 2 })]) {
        const inside = on.inside(spec, await on.runtime.createFrom(snapshot, spec))
        const text = await inside.instanceFile()
        expect(text).toContain(secretDigest(spec.instanceKey.reveal()))
        expect(text).not.toContain(secretDigest(first.spec.instanceKey.reveal()))
      }
      await on.runtime.deleteSnapshot(snapshot)
    })
  })
}
