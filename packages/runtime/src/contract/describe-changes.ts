import { randomId } from '@sandyard/kit/ids/ids'
import { describe, it } from 'vitest'
import type { ContractBench } from './contract-bench.ts'

const MAX_BYTES = 1024 ** 2

/** Deleted paths, and paths that are no files, are matters of the engine's own tests. */
export function describeChanges(bench: () => ContractBench): void {
  const { signal } = new AbortController()
  const listed = async ({ ref, maxBytes = MAX_BYTES }: { ref: { sandboxId: string; incarnation: number }; maxBytes?: number }) => {
    const { changes, isCut } = await bench().runtime.changes(ref, maxBytes, signal)
    return { isCut, kinds: new Map(changes.map(({ path, kind }) => [path, kind])) }
  }

  describe('changes', () => {
    it('are listed against the image of the sandbox, also of a paused one, and the original file is read', async ({ expect, skip }) => {
      const on = bench()
      const { snapshot: keeps, changes } = on.runtime.capabilities()
      skip(keeps === 'none' || !changes, 'absent here: changes of this runtime')
      const first = await on.start()
      await first.inside.writeFile('/root/story', 'one')
      expect((await listed({ ref: first.spec })).kinds.get('/root/story')).toBe('added')
      const snapshot = await on.runtime.snapshot(first.spec, { name: `snap-${randomId(8)}`, keep: 'files' })
      const copy = on.spec()
      const inside = on.inside(copy, await on.runtime.createFrom(snapshot, copy))
      expect((await listed({ ref: copy })).kinds.has('/root/story')).toBe(false)
      await inside.writeFile('/root/story', 'two')
      await inside.writeFile('/root/ü "n\new\\', 'new')
      const read = (path: string, maxBytes = 100) => on.runtime.readOriginal(copy, { path, maxBytes }, signal)
      for (const keep of [undefined, 'files'] as const) {
        if (keep !== undefined) await on.runtime.pause(copy, keep)
        const { kinds, isCut } = await listed({ ref: copy })
        expect(isCut).toBe(false)
        expect(kinds.get('/root/story')).toBe('modified')
        expect(kinds.get('/root/ü "n\new\\')).toBe('added')
        expect(await read('/root/story')).toEqual({ kind: 'file', content: Buffer.from('one') })
      }
      expect(await read('/root/../root/./story')).toEqual({ kind: 'file', content: Buffer.from('one') })
      expect(await read('/../../root/story', 3)).toMatchObject({ kind: 'file' })
      expect(await read('/root/story', 2)).toEqual({ kind: 'large', sizeBytes: 3 })
      for (const path of ['/root/ü "n\new\\', '/nowhere/at all', `/${'a'.repeat(300)}`, '/root/\ud800', `/${'a/'.repeat(3000)}`]) {
        expect(await read(path), path).toEqual({ kind: 'absent' })
      }
      await expect(read('root/story')).rejects.toMatchObject({ kind: 'invalid_argument' })
      await on.runtime.deleteSnapshot(snapshot)
    })

    it('are cut at a number of bytes, whole paths only', async ({ expect, skip }) => {
      const on = bench()
      skip(!on.runtime.capabilities().changes, 'absent here: changes of this runtime')
      const { spec, inside } = await on.start()
      for (let index = 0; index < 20; index += 1) await inside.writeFile(`/root/${String(index).padStart(100, 'x')}`, 'x')
      expect((await listed({ ref: spec })).isCut).toBe(false)
      const { kinds, isCut } = await listed({ ref: spec, maxBytes: 1500 })
      expect(isCut).toBe(true)
      expect(kinds.size).toBeLessThan(20)
      expect([...kinds.keys()].filter((path) => path.includes('xxx') && path.length !== '/root/'.length + 100)).toEqual([])
      expect((await listed({ ref: spec, maxBytes: 10 })).isCut).toBe(true)
    })

    it('of an absent sandbox are not found, and an abort ends the call', async ({ expect, skip }) => {
      const on = bench()
      skip(!on.runtime.capabilities().changes, 'absent here: changes of this runtime')
      const absent = on.spec()
      await expect(on.runtime.changes(absent, MAX_BYTES, signal)).rejects.toMatchObject({ kind: 'not_found' })
      await expect(on.runtime.readOriginal(absent, { path: '/x', maxBytes: 1 }, signal)).rejects.toMatchObject({ kind: 'not_found' })
      const { spec } = await on.start()
      const reason = new Error('aborted by the test')
      await expect(on.runtime.changes(spec, MAX_BYTES, AbortSignal.abort(reason))).rejects.toBe(reason)
      await expect(on.runtime.readOriginal(spec, { path: '/x', maxBytes: 1 }, AbortSignal.abort(reason))).rejects.toBe(reason)
    })

    it('are refused without the capability', async ({ expect, skip }) => {
      const on = bench()
      skip(on.runtime.capabilities().changes, 'absent here: a runtime without changes')
      const { spec } = await on.start()
      await expect(on.runtime.changes(spec, MAX_BYTES, signal)).rejects.toMatchObject({ kind: 'unimplemented' })
      await expect(on.runtime.readOriginal(spec, { path: '/x', maxBytes: 1 }, signal)).rejects.toMatchObject({ kind: 'unimplemented' })
    })
  })
}
