import { describe, it } from 'vitest'
import type { ContractBench } from './contract-bench.ts'

export function describeLifecycle(bench: () => ContractBench): void {
  describe('create, list, usage, remove', () => {
    it('starts a sandbox, lists it, reports its usage and removes it', async ({ expect }) => {
      const on = bench()
      const before = Date.now()
      const { spec, endpoint } = await on.start()
      expect(endpoint.host).not.toBe('')
      expect(endpoint.daemonPort).toBeGreaterThan(0)
      const [listed] = await on.runtime.list()
      expect(listed).toMatchObject({ sandboxId: spec.sandboxId, incarnation: 1, state: 'running' })
      expect(Math.abs((listed?.createdAt.getTime() ?? 0) - before)).toBeLessThan(60_000)
      const usage = (await on.runtime.usage([spec, { sandboxId: 'absent', incarnation: 1 }])).get(spec.sandboxId)
      expect(usage?.memoryBytes).toBeGreaterThan(0)
      expect(usage?.pids).toBeGreaterThan(0)
      expect(usage?.cpuMicroseconds).toBeGreaterThanOrEqual(0)
      await on.runtime.remove(spec)
      expect(await on.stateOf(spec)).toBeUndefined()
      expect(await on.runtime.usage([spec])).toEqual(new Map())
    })

    it('returns the existing sandbox for a repeated create', async ({ expect }) => {
      const on = bench()
      const first = await on.start()
      await first.inside.writeFile('/root/kept', 'yes')
      const again = await on.runtime.create(first.spec)
      expect(again).toEqual(first.endpoint)
      expect(await on.inside(first.spec, again).readFile('/root/kept')).toBe('yes')
      expect(await on.runtime.list()).toHaveLength(1)
    })

    it('creates one sandbox for two concurrent creates', async ({ expect }) => {
      const on = bench()
      const wanted = on.spec()
      const [left, right] = await Promise.all([on.runtime.create(wanted), on.runtime.create(wanted)])
      expect(left).toEqual(right)
      expect(await on.runtime.list()).toHaveLength(1)
    })

    it('keeps incarnations of one id apart', async ({ expect }) => {
      const on = bench()
      const { spec: first } = await on.start()
      const { spec: second } = await on.start({ sandboxId: first.sandboxId, incarnation: 2 })
      await on.start()
      const listed = await on.runtime.list(first.sandboxId)
      expect(new Set(listed.map(({ incarnation }) => incarnation))).toEqual(new Set([1, 2]))
      expect(listed).toHaveLength(2)
      expect(await on.runtime.list('absent')).toEqual([])
      await on.runtime.remove(first)
      expect(await on.stateOf(first)).toBeUndefined()
      expect(await on.stateOf(second)).toBe('running')
    })

    it('rejects an image that does not exist and leaves nothing behind', async ({ expect }) => {
      const on = bench()
      const image = 'sandyard/no-such-image:1'
      expect(await on.runtime.imageExists(on.spec().image)).toBe(true)
      expect(await on.runtime.imageExists(image)).toBe(false)
      await expect(on.runtime.create(on.spec({ image }))).rejects.toMatchObject({ kind: 'not_found' })
      expect(await on.runtime.list()).toEqual([])
    })

    it.for(['before', 'during'])('leaves nothing behind when the abort comes %s the create', async (when, { expect }) => {
      const on = bench()
      const abort = new AbortController()
      const reason = new Error('aborted by the test')
      if (when === 'before') abort.abort(reason)
      const created = on.runtime.create(on.spec(), abort.signal)
      queueMicrotask(() => abort.abort(reason))
      await expect(created).rejects.toBe(reason)
      expect(await on.runtime.list()).toEqual([])
    })

    it('succeeds for an absent sandbox, repeatedly, concurrently and after the end', async ({ expect }) => {
      const on = bench()
      await on.runtime.remove(on.spec())
      const running = await on.start()
      await Promise.all([on.runtime.remove(running.spec), on.runtime.remove(running.spec)])
      const ended = await on.start()
      await ended.inside.end()
      await on.untilState(ended.spec, 'stopped')
      await on.runtime.remove(ended.spec)
      expect(await on.runtime.list()).toEqual([])
    })

    it('does not restart an ended sandbox', async ({ expect }) => {
      const on = bench()
      const { spec, inside } = await on.start()
      await inside.end()
      await on.untilState(spec, 'stopped')
      await expect(on.runtime.create(spec)).rejects.toMatchObject({ kind: 'conflict' })
      expect(await on.runtime.usage([spec])).toEqual(new Map())
      expect(await on.stateOf(spec)).toBe('stopped')
    })
  })
}
