import { describe, it } from 'vitest'
import { randomId } from '@sandyard/kit/ids/ids'
import type { ContractBench } from './contract-bench.ts'

export function describeSeparation(bench: () => ContractBench): void {
  describe('two installations on one engine', () => {
    it("do not list, use or end each other's sandboxes", async ({ expect }) => {
      const on = bench()
      const { other } = on
      const { spec, endpoint, inside } = await on.start()
      expect(await other.list()).toEqual([])
      expect(await other.usage([spec])).toEqual(new Map())
      await expect(other.pause(spec, 'files')).rejects.toMatchObject({ kind: 'not_found' })
      await expect(other.snapshot(spec, { name: `snap-${randomId(8)}`, keep: 'files' })).rejects.toMatchObject({ kind: 'not_found' })
      await other.remove(spec)
      expect(await on.stateOf(spec)).toBe('running')
      await inside.writeFile('/root/whose', 'mine')

      const theirs = await other.create(spec)
      expect(theirs).not.toEqual(endpoint)
      await other.remove(spec)
      expect(await inside.readFile('/root/whose')).toBe('mine')
    })

    it("cannot delete each other's snapshots and get no events of each other", async ({ expect, skip }) => {
      const on = bench()
      const { runtime, other } = on
      skip(runtime.capabilities().snapshot === 'none', 'this runtime has no snapshots')
      const stop = new AbortController()
      const heard = await other.events(stop.signal)
      const { spec } = await on.start()
      const name = `snap-${randomId(8)}`
      const mine = await runtime.snapshot(spec, { name, keep: 'files' })
      await other.deleteSnapshot(mine)
      expect(await runtime.imageExists(mine.image)).toBe(true)

      const theirSpec = on.spec()
      await other.create(theirSpec)
      const theirs = await other.snapshot(theirSpec, { name, keep: 'files' })
      expect(theirs.image).not.toBe(mine.image)
      await runtime.remove(spec)
      await other.remove(theirSpec)
      for await (const event of heard) {
        expect(event.sandboxId).toBe(theirSpec.sandboxId)
        if (event.kind === 'exited') stop.abort()
      }
      await runtime.deleteSnapshot(mine)
      await other.deleteSnapshot(theirs)
    })
  })
}
