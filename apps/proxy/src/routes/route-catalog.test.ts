import { describe, expect, it } from 'vitest'
import { RouteCatalog } from './route-catalog.ts'
import type { LiveRoute, Route, RouteSource } from './route.ts'

const live: LiveRoute = { sandboxId: 'i1', incarnation: 1, state: 'running', endpoint: { host: '10.0.0.1', daemonPort: 49_983 } }

/** A source whose reads are answered by the test, in any order. */
class SlowSource implements RouteSource {
  readonly pending: ((route: Route | undefined) => void)[] = []
  failure: Error | undefined

  async read([sandboxId = '']: readonly string[]): Promise<Map<string, Route>> {
    if (this.failure !== undefined) throw this.failure
    const { promise, resolve } = Promise.withResolvers<Route | undefined>()
    this.pending.push(resolve)
    const route = await promise
    return new Map(route === undefined ? [] : [[sandboxId, route]])
  }

  watch(): AsyncDisposable {
    throw new Error('not used')
  }

  /** Answers the oldest open read, and lets what hangs on it run. */
  async answer(route: Route | undefined): Promise<void> {
    this.pending.shift()?.(route)
    await turn()
  }
}

/** One turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function setUp(options: { maxAgeMs?: number; maxEntries?: number } = {}): { source: SlowSource; catalog: RouteCatalog } {
  const source = new SlowSource()
  return { source, catalog: new RouteCatalog(source, { maxAgeMs: 60_000, maxEntries: 100, ...options }) }
}

describe('find', () => {
  it('reads a live route once, for all who ask meanwhile and later', async () => {
    const { source, catalog } = setUp()
    const asked = [catalog.find('i1'), catalog.find('i1'), catalog.find('i1')]
    expect(source.pending.length).toBe(1)
    await source.answer(live)
    expect(await Promise.all([...asked, catalog.find('i1')])).toEqual([live, live, live, live])
    expect(source.pending.length).toBe(0)
  })

  it.each<Route>([
    { ...live, state: 'starting' },
    { ...live, state: 'paused' },
    { ...live, endpoint: undefined },
  ])('does not remember what is not live: %j', async (route) => {
    const { source, catalog } = setUp()
    const first = catalog.find('i1')
    await source.answer(route)
    expect(await first).toBeUndefined()
    const second = catalog.find('i1')
    await source.answer(live)
    expect(await second).toEqual(live)
  })

  it('does not take a "no" from a read that began before the question', async () => {
    const { source, catalog } = setUp()
    const before = catalog.find('i1')
    const after = [catalog.find('i1'), catalog.find('i1')]
    await source.answer(undefined)
    expect(await before).toBeUndefined()
    expect(source.pending.length).toBe(1)
    await source.answer(live)
    expect(await Promise.all(after)).toEqual([live, live])
  })

  it('reads again what a change overtook', async () => {
    const { source, catalog } = setUp()
    const found = catalog.find('i1')
    catalog.forget('i1')
    await source.answer(live)
    await source.answer({ ...live, incarnation: 2 })
    expect((await found)?.incarnation).toBe(2)
    expect((await catalog.find('i1'))?.incarnation).toBe(2)
  })

  it('forgets at a change, and after a while without one', async () => {
    for (const maxAgeMs of [60_000, 0]) {
      const { source, catalog } = setUp({ maxAgeMs })
      const first = catalog.find('i1')
      await source.answer(live)
      await first
      if (maxAgeMs > 0) catalog.forgetAll()
      const second = catalog.find('i1')
      await source.answer(undefined)
      expect(await second).toBeUndefined()
    }
  })

  it('keeps no more than it may, the newest', async () => {
    const { source, catalog } = setUp({ maxEntries: 2 })
    for (const sandboxId of ['i1', 'i2', 'i3']) {
      const found = catalog.find(sandboxId)
      await source.answer({ ...live, sandboxId })
      await found
    }
    expect((await catalog.find('i3'))?.sandboxId).toBe('i3')
    expect((await catalog.find('i2'))?.sandboxId).toBe('i2')
    const again = catalog.find('i1')
    expect(source.pending.length).toBe(1)
    await source.answer(live)
    await again
  })

  it('fails with its source and works again with it', async () => {
    const { source, catalog } = setUp()
    source.failure = new Error('down')
    await expect(Promise.all([catalog.find('i1'), catalog.find('i1')])).rejects.toThrow('down')
    source.failure = undefined
    const found = catalog.find('i1')
    await source.answer(live)
    expect(await found).toEqual(live)
  })
})

describe('isCurrent', () => {
  it('asks again even for a route it remembers, once for many that ask', async () => {
    const { source, catalog } = setUp()
    const found = catalog.find('i1')
    await source.answer(live)
    await found
    const first = catalog.isCurrent(live)
    await turn()
    const many = Array.from({ length: 50 }, () => catalog.isCurrent(live))
    await source.answer(live)
    await source.answer({ ...live, incarnation: 2 })
    expect(await first).toBe(true)
    expect(new Set(await Promise.all(many))).toEqual(new Set([false]))
    expect(source.pending.length).toBe(0)
  })
})
