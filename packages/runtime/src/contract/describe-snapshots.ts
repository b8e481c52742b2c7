import { describe, it } from 'vitest'
import { randomId } from '@sandyard/kit/ids/ids'
import type { SnapshotRequest } from '../sandbox-runtime.ts'
import type { Keep } from '../types.ts'
import type { ContractBench } from './contract-bench.ts'

const newSnapshot = (): SnapshotRequest => ({ name: `snap-${randomId(8)}`, keep: 'files' })

/** @param keeps - what the runtime can keep in a pause */
export function describeSnapshots(bench: () => ContractBench, keeps: readonly Keep[]): void {
  describe('snapshots', () => {
    it('stores the files of one instant, for several sandboxes, while the source keeps running', async ({ expect, skip }) => {
      const on = bench()
      skip(on.runtime.capabilities().snapshot === 'none', 'this runtime has no snapshots')
      const source = await on.start()
      await source.inside.writeFile('/root/story', 'one')
      const snapshot = await on.runtime.snapshot(source.spec, newSnapshot())
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

    it.for<Keep | 'none'>(['none', ...keeps])(
      'creates one snapshot for each name, of a sandbox that keeps its state (paused with: %s)',
      async (paused, { expect, skip }) => {
        const on = bench()
        skip(on.runtime.capabilities().snapshot === 'none', 'this runtime has no snapshots')
        const request = newSnapshot()
        const { spec, inside } = await on.start()
        await inside.writeFile('/root/story', 'one')
        const handle = paused === 'none' ? undefined : await on.runtime.pause(spec, paused)
        const state = await on.stateOf(spec)
        const first = await on.runtime.snapshot(spec, request)
        expect(first).toMatchObject({ runtime: on.runtime.name, hasMemory: false, sizeBytes: expect.any(Number) })
        const { resources, allowPrivilegeGain, mounts } = spec
        expect(first.spec).toEqual({ resources, allowPrivilegeGain, mounts })
        expect(first.sizeBytes).toBeGreaterThan(0)
        await on.untilState(spec, state)
        const endpoint = handle === undefined ? undefined : (await on.runtime.resume(handle, { spec, keep: 'memory' })).endpoint
        await (endpoint === undefined ? inside : on.inside(spec, endpoint)).writeFile('/root/story', 'two')
        expect(await on.runtime.snapshot(spec, request)).toEqual(first)
        await on.runtime.remove(spec)
        expect(await on.runtime.snapshot(spec, request)).toEqual(first)
        const copy = on.spec()
        const kept = JSON.parse(JSON.stringify(first)) as typeof first
        expect(await on.inside(copy, await on.runtime.createFrom(kept, copy)).readFile('/root/story')).toBe('one')
        await on.runtime.deleteSnapshot(first)
      },
    )

    it('creates a paused sandbox from a snapshot of one that was removed, which resumes with its files', async ({ expect, skip }) => {
      const on = bench()
      skip(on.runtime.capabilities().snapshot === 'none', 'this runtime has no snapshots')
      const { spec, inside } = await on.start()
      await inside.writeFile('/root/story', 'one')
      const snapshot = await on.runtime.snapshot(spec, newSnapshot())
      await expect(on.runtime.createPaused(snapshot, spec)).rejects.toMatchObject({ kind: 'conflict' })
      await on.runtime.remove(spec)
      const handle = await on.runtime.createPaused(snapshot, spec)
      expect(handle.keep).toBe('files')
      expect(await on.runtime.createPaused(snapshot, spec)).toEqual(handle)
      expect(await on.stateOf(spec)).toBe('stopped')
      await on.runtime.deleteSnapshot(snapshot)
      const { endpoint, restored } = await on.runtime.resume(handle, { spec, keep: 'memory' })
      expect(restored).toBe('files')
      expect(await on.inside(spec, endpoint).readFile('/root/story')).toBe('one')
      await expect(on.runtime.createPaused(snapshot, on.spec())).rejects.toMatchObject({ kind: 'not_found' })
    })

    it('rejects a snapshot of another runtime, version or engine', async ({ expect, skip }) => {
      const on = bench()
      skip(on.runtime.capabilities().snapshot === 'none', 'this runtime has no snapshots')
      const { spec } = await on.start()
      const snapshot = await on.runtime.snapshot(spec, newSnapshot())
      for (const change of [{ runtime: 'another' }, { version: snapshot.version + 1 }, { engine: '0'.repeat(32) }]) {
        const foreign = { ...snapshot, ...change }
        await expect(on.runtime.createFrom(foreign, on.spec())).rejects.toMatchObject({ kind: 'failed_precondition' })
        await expect(on.runtime.createPaused(foreign, on.spec())).rejects.toMatchObject({ kind: 'failed_precondition' })
        await expect(on.runtime.deleteSnapshot(foreign)).rejects.toMatchObject({ kind: 'failed_precondition' })
      }
      expect(await on.runtime.list()).toHaveLength(1)
      await on.runtime.deleteSnapshot(snapshot)
    })

    it('deletes a snapshot that running sandboxes were created from, and accepts a repeated delete', async ({ expect, skip }) => {
      const on = bench()
      skip(on.runtime.capabilities().snapshot === 'none', 'this runtime has no snapshots')
      const { spec } = await on.start()
      const snapshot = await on.runtime.snapshot(spec, newSnapshot())
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
      await expect(on.runtime.snapshot(on.spec(), newSnapshot())).rejects.toMatchObject({ kind: 'not_found' })
      const { spec } = await on.start()
      for (const name of ['', 'Upper', '../x', 'a:b', '-a', 'a'.repeat(101)]) {
        await expect(on.runtime.snapshot(spec, { name, keep: 'files' }), name).rejects.toMatchObject({ kind: 'invalid_argument' })
      }
    })
  })
}
