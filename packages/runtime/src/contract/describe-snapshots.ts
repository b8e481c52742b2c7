import { describe, it } from 'vitest'
import { randomId } from '@sandyard/kit/ids/ids'
import type { ContractBench } from './contract-bench.ts'

export function describeSnapshots(bench: () => ContractBench): void {
  describe('snapshots', () => {
    it('stores the files of one instant, for several sandboxes, while the source keeps running', async ({ expect, skip }) => {
      const on = bench()
      skip(on.runtime.capabilities().snapshot === 'none', 'this runtime has no snapshots')
      const source = await on.start()
      await source.inside.writeFile('/root/story', 'one')
      const snapshot = await on.runtime.snapshot(source.spec, `snap-${randomId(8)}`)
      await source.inside.writeFile('/root/story', 'two')
      await on.untilState(source.spec, 'running')
      const copies = [on.spec(), on.spec()]
      for (const copy of copies) {
        const inside = on.inside(copy, await on.runtime.createFrom(snapshot, copy))
        expect(await inside.readFile('/root/story')).toBe('one')
        await inside.writeFile('/root/story', copy.sandboxId)
      }
      expect(await source.inside.readFile('/root/story')).toBe('two')
      expect(await on.runtime.imageExists(snapshot.image)).toBe(true)
      await on.runtime.deleteSnapshot(snapshot)
    })

    it('creates one snapshot for each name, also of a frozen sandbox, which stays frozen', async ({ expect, skip }) => {
      const on = bench()
      const { freeze, snapshot } = on.runtime.capabilities()
      skip(snapshot === 'none' || !freeze, 'this runtime has no snapshots of frozen sandboxes')
      const name = `snap-${randomId(8)}`
      const { spec, inside } = await on.start()
      await inside.writeFile('/root/story', 'one')
      await on.runtime.freeze(spec)
      const first = await on.runtime.snapshot(spec, name)
      await on.untilState(spec, 'frozen')
      await on.runtime.thaw(spec)
      await inside.writeFile('/root/story', 'two')
      expect(await on.runtime.snapshot(spec, name)).toEqual(first)
      await on.runtime.remove(spec)
      expect(await on.runtime.snapshot(spec, name)).toEqual(first)
      const copy = on.spec()
      expect(await on.inside(copy, await on.runtime.createFrom(first, copy)).readFile('/root/story')).toBe('one')
      await on.runtime.deleteSnapshot(first)
    })

    it('deletes a snapshot that running sandboxes were created from, and accepts a repeated delete', async ({ expect, skip }) => {
      const on = bench()
      skip(on.runtime.capabilities().snapshot === 'none', 'this runtime has no snapshots')
      const { spec } = await on.start()
      const snapshot = await on.runtime.snapshot(spec, `snap-${randomId(8)}`)
      const copy = on.spec()
      const inside = on.inside(copy, await on.runtime.createFrom(snapshot, copy))
      await on.runtime.deleteSnapshot(snapshot)
      await on.runtime.deleteSnapshot(snapshot)
      expect(await on.runtime.imageExists(snapshot.image)).toBe(false)
      await inside.writeFile('/root/alive', 'yes')
      await expect(on.runtime.createFrom(snapshot, on.spec())).rejects.toMatchObject({ kind: 'not_found' })
      await on.runtime.remove(copy)
      await on.runtime.deleteSnapshot(snapshot)
    })

    it('rejects an absent sandbox and an invalid name', async ({ expect, skip }) => {
      const on = bench()
      skip(on.runtime.capabilities().snapshot === 'none', 'this runtime has no snapshots')
      await expect(on.runtime.snapshot(on.spec(), `snap-${randomId(8)}`)).rejects.toMatchObject({ kind: 'not_found' })
      const { spec } = await on.start()
      for (const name of ['', 'Upper', '../x', 'a:b', '-a', 'a'.repeat(101)]) {
        await expect(on.runtime.snapshot(spec, name), name).rejects.toMatchObject({ kind: 'invalid_argument' })
      }
    })
  })
}
