import { describe, it } from 'vitest'
import type { RuntimeEvent } from '../types.ts'
import type { ContractBench } from './contract-bench.ts'

export function describeEvents(bench: () => ContractBench): void {
  describe('events', () => {
    it('reports every event after the subscription, also before the first read, and ends when aborted', async ({ expect }) => {
      const on = bench()
      const { spec } = await on.start()
      const stop = new AbortController()
      const events = await on.runtime.events(stop.signal)
      const { sandboxId, incarnation } = spec
      const wanted: RuntimeEvent[] = [{ sandboxId, incarnation, kind: 'exited' }]
      if (on.runtime.capabilities().pause === 'memory') {
        await on.runtime.resume(await on.runtime.pause(spec, 'memory'), { spec, keep: 'memory' })
        wanted.unshift({ sandboxId, incarnation, kind: 'frozen' }, { sandboxId, incarnation, kind: 'thawed' })
      }
      await on.runtime.remove(spec)
      // Events may repeat. Only the order of their first occurrences counts.
      const seen = new Map<string, RuntimeEvent>()
      for await (const event of events) {
        seen.set(event.kind, seen.get(event.kind) ?? event)
        if (event.kind === 'exited') stop.abort()
      }
      expect([...seen.values()]).toEqual(wanted)
    })

    it('reports a sandbox that ended by itself', async ({ expect }) => {
      const on = bench()
      const { spec, inside } = await on.start()
      const stop = new AbortController()
      const events = await on.runtime.events(stop.signal)
      expect(await on.runtime.findEnd(spec)).toBeUndefined()
      const began = Date.now()
      await inside.end()
      for await (const event of events) {
        expect(event).toEqual({ sandboxId: spec.sandboxId, incarnation: 1, kind: 'exited' })
        stop.abort()
      }
      await on.untilState(spec, 'stopped')
      const end = await on.runtime.findEnd(spec)
      expect(end?.cause).toBe('unknown')
      expect(Math.abs((end?.at.getTime() ?? 0) - began)).toBeLessThan(60_000)
      await on.runtime.remove(spec)
      expect(await on.runtime.findEnd(spec)).toBeUndefined()
    })
  })
}
