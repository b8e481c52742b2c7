import { describe, it, type TestContext } from 'vitest'
import type { Keep, PauseHandle, SandboxEndpoint, SandboxSpec } from '../types.ts'
import type { ContractBench } from './contract-bench.ts'
import type { SandboxAccess } from './contract-harness.ts'

interface Paused {
  readonly spec: SandboxSpec
  readonly endpoint: SandboxEndpoint
  readonly inside: SandboxAccess
  readonly handle: PauseHandle
}

/** The control plane stores handles as JSON. */
function stored<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}

/** @param keeps - what the runtime can keep in a pause */
export function describePausing(bench: () => ContractBench, keeps: readonly Keep[]): void {
  /** Defines a test of pauses that keep memory. */
  const itKeepsMemory = (name: string, test: (context: TestContext) => Promise<void>): void => {
    if (keeps.includes('memory')) it(name, test)
  }

  /** A paused sandbox with a file and something in memory. */
  async function startPaused(keep: Keep): Promise<Paused> {
    const on = bench()
    const { spec, endpoint, inside } = await on.start()
    await inside.writeFile('/root/kept', 'yes')
    await inside.remember('a number')
    return { spec, endpoint, inside, handle: stored(await on.runtime.pause(spec, keep)) }
  }

  describe('pause and resume', () => {
    itKeepsMemory('keeps memory and processes, repeatedly, for repeated calls', async ({ expect }) => {
      const on = bench()
      const { spec, endpoint, inside, handle } = await startPaused('memory')
      for (let round = 0; round < 2; round += 1) {
        expect(stored(await on.runtime.pause(spec, 'memory'))).toEqual(handle)
        expect(handle).toMatchObject({ runtime: on.runtime.name, keep: 'memory' })
        await on.untilState(spec, 'frozen')
        expect((await on.runtime.usage([spec])).get(spec.sandboxId)?.pids).toBeGreaterThan(0)
        for (let call = 0; call < 2; call += 1) {
          expect(await on.runtime.resume(handle, { spec, keep: 'memory' })).toEqual({ endpoint, restored: 'memory' })
        }
        await on.untilState(spec, 'running')
        expect(await inside.recall()).toBe('a number')
        expect(await inside.readFile('/root/kept')).toBe('yes')
        await on.runtime.pause(spec, 'memory')
      }
    })

    itKeepsMemory('keeps no memory of processes that were started after the former pause', async ({ expect }) => {
      const on = bench()
      const { spec, handle } = await startPaused('memory')
      expect(stored(await on.runtime.pause(spec, 'memory', handle))).toEqual(handle)
      await on.runtime.resume(handle, { spec, keep: 'files' })
      // Frozen by somebody who did not name the former pause: its handle does not bring these processes back either.
      const other = stored(await on.runtime.pause(spec, 'memory'))
      expect(other.keep).toBe('memory')
      expect((await on.runtime.resume(handle, { spec, keep: 'memory' })).restored).toBe('files')
      expect(stored(await on.runtime.pause(spec, 'memory', handle)).keep).toBe('files')
      expect(await on.stateOf(spec)).toBe('stopped')
    })

    it('keeps files and frees the memory, repeatedly, for repeated calls', async ({ expect }) => {
      const on = bench()
      const { spec, handle } = await startPaused('files')
      for (let round = 0; round < 2; round += 1) {
        const again = stored(await on.runtime.pause(spec, 'files'))
        expect(again).toMatchObject({ runtime: on.runtime.name, keep: 'files', engine: handle.engine })
        expect(await on.stateOf(spec)).toBe('stopped')
        expect(await on.runtime.usage([spec])).toEqual(new Map())
        const { endpoint, restored } = await on.runtime.resume(again, { spec, keep: 'memory' })
        expect(restored).toBe('files')
        expect(await on.runtime.resume(again, { spec, keep: 'memory' })).toEqual({ endpoint, restored })
        expect(await on.stateOf(spec)).toBe('running')
        const inside = on.inside(spec, endpoint)
        expect(await inside.recall()).toBeUndefined()
        expect(await inside.readFile('/root/kept')).toBe('yes')
        await inside.remember('another number')
        await on.runtime.pause(spec, 'files')
      }
      expect((await on.runtime.list()).map(({ incarnation }) => incarnation)).toEqual([spec.incarnation])
    })

    itKeepsMemory('drops the memory of a paused sandbox on a second pause with files only', async ({ expect }) => {
      const on = bench()
      const { spec, handle: old } = await startPaused('memory')
      const handle = stored(await on.runtime.pause(spec, 'files'))
      expect(handle.keep).toBe('files')
      expect(await on.stateOf(spec)).toBe('stopped')
      expect(await on.runtime.usage([spec])).toEqual(new Map())
      const { endpoint, restored } = await on.runtime.resume(old, { spec, keep: 'memory' })
      expect(restored).toBe('files')
      expect(await on.inside(spec, endpoint).readFile('/root/kept')).toBe('yes')
      expect(await on.runtime.resume(handle, { spec, keep: 'memory' })).toEqual({ endpoint, restored })
    })

    itKeepsMemory('resumes from the files of a sandbox whose memory is there, when asked', async ({ expect }) => {
      const on = bench()
      const { spec, handle } = await startPaused('memory')
      const { endpoint, restored } = await on.runtime.resume(handle, { spec, keep: 'files' })
      expect(restored).toBe('files')
      const inside = on.inside(spec, endpoint)
      expect(await inside.recall()).toBeUndefined()
      expect(await inside.readFile('/root/kept')).toBe('yes')
    })

    it.for(keeps)('stays paused when a resume is aborted, and resumes later (%s)', async (keep, { expect }) => {
      const on = bench()
      const { spec, handle } = await startPaused(keep)
      const state = await on.stateOf(spec)
      for (const when of ['before', 'during']) {
        const abort = new AbortController()
        const reason = new Error('aborted by the test')
        if (when === 'before') abort.abort(reason)
        const resumed = on.runtime.resume(handle, { spec, keep: 'memory' }, abort.signal)
        queueMicrotask(() => abort.abort(reason))
        await expect(resumed, when).rejects.toBe(reason)
        expect(await on.stateOf(spec), when).toBe(state)
      }
      const { endpoint, restored } = await on.runtime.resume(handle, { spec, keep: 'memory' })
      expect(restored).toBe(keep)
      expect(await on.inside(spec, endpoint).readFile('/root/kept')).toBe('yes')
    })

    it.for(keeps)('pauses and resumes once for concurrent calls (%s)', async (keep, { expect }) => {
      const on = bench()
      const { spec, inside } = await on.start()
      await inside.remember('a number')
      const [handle, other] = await Promise.all([on.runtime.pause(spec, keep), on.runtime.pause(spec, keep)])
      expect(handle).toEqual(other)
      const resume = () => on.runtime.resume(handle, { spec, keep: 'memory' })
      const [first, ...others] = await Promise.all([resume(), resume(), resume()])
      expect(first.restored).toBe(keep)
      expect(others).toEqual([first, first])
      expect(await on.inside(spec, first.endpoint).recall()).toBe(keep === 'memory' ? 'a number' : undefined)
    })

    it('turns an ended sandbox into one that is paused with its files', async ({ expect }) => {
      const on = bench()
      const { spec, inside } = await on.start()
      await inside.writeFile('/root/kept', 'yes')
      await inside.end()
      await on.untilState(spec, 'stopped')
      const handle = await on.runtime.pause(spec, 'files')
      const { endpoint, restored } = await on.runtime.resume(handle, { spec, keep: 'memory' })
      expect(restored).toBe('files')
      expect(await on.inside(spec, endpoint).readFile('/root/kept')).toBe('yes')

      if (!keeps.includes('memory')) return
      await on.inside(spec, endpoint).end()
      await on.untilState(spec, 'stopped')
      await expect(on.runtime.pause(spec, 'memory')).rejects.toMatchObject({ kind: 'failed_precondition' })
      expect(await on.stateOf(spec)).toBe('stopped')
    })

    itKeepsMemory('resumes from files after the processes of a frozen sandbox have ended', async ({ expect }) => {
      const on = bench()
      const { spec, inside, handle } = await startPaused('memory')
      await on.loseMemory(spec)
      await on.untilState(spec, 'stopped')
      const { endpoint, restored } = await on.runtime.resume(handle, { spec, keep: 'memory' })
      expect(restored).toBe('files')
      expect(await on.inside(spec, endpoint).readFile('/root/kept')).toBe('yes')
      expect(inside).toBeDefined()
    })

    it.for(keeps)('removes a paused sandbox, which then cannot be resumed (%s)', async (keep, { expect }) => {
      const on = bench()
      const { spec, handle } = await startPaused(keep)
      await on.runtime.remove(spec)
      expect(await on.stateOf(spec)).toBeUndefined()
      await expect(on.runtime.resume(handle, { spec, keep: 'memory' })).rejects.toMatchObject({ kind: 'not_found' })
      expect(await on.runtime.list()).toEqual([])
    })

    it('rejects handles that are not for this sandbox and runtime, and leaves it paused', async ({ expect }) => {
      const on = bench()
      const { spec, handle } = await startPaused('files')
      const refused = { kind: 'failed_precondition' }
      const changes = [{ runtime: 'another' }, { version: handle.version + 1 }, { engine: '0'.repeat(32) }]
      for (const change of changes) {
        await expect(on.runtime.resume({ ...handle, ...change }, { spec, keep: 'memory' })).rejects.toMatchObject(refused)
      }
      await expect(on.runtime.resume(handle, { spec: { ...spec, incarnation: 2 }, keep: 'memory' })).rejects.toMatchObject(refused)
      await expect(on.other.resume(handle, { spec, keep: 'memory' })).rejects.toMatchObject(refused)
      expect(await on.stateOf(spec)).toBe('stopped')
    })

    it('rejects an absent sandbox with not_found', async ({ expect }) => {
      const on = bench()
      for (const keep of keeps) {
        await expect(on.runtime.pause(on.spec(), keep)).rejects.toMatchObject({ kind: 'not_found' })
      }
    })
  })
}
