import { describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../logging/create-logger.ts'
import { runLoop } from './run-loop.ts'
import { Shutdown } from './shutdown.ts'

describe('Shutdown', () => {
  it('runs phases in reverse, once, and goes on after a failure', async () => {
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

  it('leaves a phase that hangs', async () => {
    const shutdown = new Shutdown(silentLogger(), 5)
    let reached = false
    shutdown.add('last', () => (reached = true))
    shutdown.add('hangs', () => new Promise(() => undefined))
    await shutdown.run()
    expect(reached).toBe(true)
  })
})

describe('runLoop', () => {
  it('goes on after a failed run, wakes early and stops', async () => {
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
