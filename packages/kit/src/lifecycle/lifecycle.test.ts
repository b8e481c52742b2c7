import { describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../logging/create-logger.ts'
import { runLoop } from './run-loop.ts'
import { Shutdown } from './shutdown.ts'

describe('Shutdown', () => {
  it('runs the phases once, in reverse order, and continues after a failure', async () => {
    const order: string[] = []
    const shutdown = new Shutdown(silentLogger())
    shutdown.add('database', () => order.push('database'))
    shutdown.add('loops', () => {
      order.push('loops')
      throw new Error('boom')
    })
    shutdown.add('listener', () => order.push('listener'))
    await Promise.all([shutdown.run(), shutdown.run()])
    expect(order).toEqual(['listener', 'loops', 'database'])
  })

  it('continues after the time limit of a phase that hangs', async () => {
    const shutdown = new Shutdown(silentLogger(), 5)
    let reached = false
    shutdown.add('last', () => (reached = true))
    shutdown.add('hangs', () => new Promise(() => undefined))
    await shutdown.run()
    expect(reached).toBe(true)
  })

  it('waits longer for a phase with a longer limit', async () => {
    const order: string[] = []
    const long = Promise.withResolvers<void>()
    const shutdown = new Shutdown(silentLogger(), 5)
    shutdown.add('next', () => order.push('next'))
    shutdown.add('long', () => long.promise.then(() => order.push('long')), { timeoutMs: 60_000 })
    const ended = shutdown.run()
    // When this phase has reached the default limit of 5 ms, `long` would have reached it too.
    const other = new Shutdown(silentLogger(), 5)
    other.add('hangs', () => new Promise(() => undefined))
    await other.run()
    long.resolve()
    await ended
    expect(order).toEqual(['long', 'next'])
  })
})

describe('runLoop', () => {
  it('continues after a failed run, wakes early and stops', async () => {
    let runs = 0
    const loop = runLoop({ name: 't', everyMs: 60_000, log: silentLogger() }, async () => {
      runs += 1
      if (runs === 1) throw new Error('first run')
    })
    await vi.waitFor(() => expect(runs).toBe(1))
    await vi.waitFor(() => {
      loop.wake()
      expect(runs).toBeGreaterThanOrEqual(2)
    })
    await loop.stop()
    const after = runs
    loop.wake()
    expect(runs).toBe(after)
  })
})
