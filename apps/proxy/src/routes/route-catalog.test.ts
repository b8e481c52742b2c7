import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { RouteCatalog } from './route-catalog.ts'
import { RouteReader } from './route-reader.ts'
import type { LiveRoute, Route, RouteSource } from './route.ts'

const live: LiveRoute = {
  sandboxId: 'i1',
  teamId: 'team',
  incarnation: 1,
  state: 'running',
  endpoint: { host: '10.0.0.1', daemonPort: 49_983 },
  startedAt: 1,
  isSecure: true,
  isPublic: true,
  maskHost: undefined,
  httpsPorts: [],
  wakes: false,
}

/** A source whose reads the test answers, in any order. */
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

  /** Answers the oldest open read and runs the code that waits for it. */
  async answer(route: Route | undefined): Promise<void> {
    await turn()
    this.pending.shift()?.(route)
    await turn()
  }

  /** Answers every open read: one that stays open fails after its deadline, while another test runs. */
  async answerAll(): Promise<void> {
    await turn()
    while (this.pending.length > 0) await this.answer(undefined)
  }
}

/** One turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

interface SetUp {
  readonly maxAgeMs?: number
  readonly missAgeMs?: number
  readonly maxEntries?: number
  readonly maxQueries?: number
  readonly maxWaiting?: number
}

function setUp({ maxQueries = 4, maxWaiting = 100, ...options }: SetUp = {}): { source: SlowSource; catalog: RouteCatalog } {
  const source = new SlowSource()
  onTestFinished(() => source.answerAll())
  const reader = new RouteReader(source, { maxQueries, maxWaiting })
  return { source, catalog: new RouteCatalog(reader, { maxAgeMs: 60_000, missAgeMs: 60_000, maxEntries: 100, ...options }) }
}

describe('find', () => {
  it('reads a live route once for concurrent and later calls', async () => {
    const { source, catalog } = setUp()
    const asked = [catalog.find('i1'), catalog.find('i1'), catalog.find('i1')]
    await turn()
    expect(source.pending.length).toBe(1)
    await source.answer(live)
    expect(await Promise.all([...asked, catalog.find('i1')])).toEqual([live, live, live, live])
    expect(source.pending.length).toBe(0)
  })

  it('reads an id without a row once for concurrent and later calls', async () => {
    const { source, catalog } = setUp()
    const asked = [catalog.find('i1'), catalog.find('i1')]
    await source.answer(undefined)
    expect(await Promise.all([...asked, catalog.find('i1')])).toEqual([undefined, undefined, undefined])
    expect(source.pending.length).toBe(0)
  })

  it.each([
    ['its change is announced', true],
    ['a moment later', false],
  ])('reads an id without a row again when %s', async (_, isAnnounced) => {
    const { source, catalog } = setUp({ missAgeMs: isAnnounced ? 60_000 : 1 })
    const first = catalog.find('i1')
    await source.answer(undefined)
    expect(await first).toBeUndefined()
    if (isAnnounced) catalog.forget('i1')
    await vi.waitFor(() => {
      void catalog.find('i1')
      expect(source.pending.length).toBeGreaterThan(0)
    })
    const found = catalog.find('i1')
    while (source.pending.length > 0) await source.answer(live)
    expect(await found).toEqual(live)
  })

  it.each<Route>([
    { ...live, state: 'starting' },
    { ...live, state: 'paused' },
    { ...live, endpoint: undefined },
  ])('does not cache a row that is not live: %j', async (route) => {
    const { source, catalog } = setUp()
    const first = catalog.find('i1')
    await source.answer(route)
    expect(await first).toEqual(route)
    const second = catalog.find('i1')
    await source.answer(live)
    expect(await second).toEqual(live)
  })

  it('does not use a row that is not live from a read that began before the call', async () => {
    const { source, catalog } = setUp()
    const before = catalog.find('i1')
    const after = [catalog.find('i1'), catalog.find('i1')]
    await source.answer({ ...live, state: 'paused' })
    expect((await before)?.state).toBe('paused')
    expect(source.pending.length).toBe(1)
    await source.answer(live)
    expect(await Promise.all(after)).toEqual([live, live])
  })

  it.each([live, undefined])('reads again when a change came during the read: %j', async (old) => {
    const { source, catalog } = setUp()
    const found = catalog.find('i1')
    catalog.forget('i1')
    await source.answer(old)
    await source.answer({ ...live, incarnation: 2 })
    expect((await found)?.incarnation).toBe(2)
    expect((await catalog.find('i1'))?.incarnation).toBe(2)
  })

  it('clears the whole cache at once', async () => {
    const { source, catalog } = setUp()
    const first = catalog.find('i1')
    await source.answer(live)
    await first
    catalog.forgetAll()
    const second = catalog.find('i1')
    await source.answer(undefined)
    expect(await second).toBeUndefined()
  })

  it('reads a live route again after its maximum age', async () => {
    const { source, catalog } = setUp({ maxAgeMs: 1 })
    const first = catalog.find('i1')
    await source.answer(live)
    await first
    await vi.waitFor(() => {
      void catalog.find('i1')
      expect(source.pending.length).toBeGreaterThan(0)
    })
  })

  it('caches the newest routes up to its cap', async () => {
    const { source, catalog } = setUp({ maxEntries: 2 })
    for (const sandboxId of ['i1', 'i2', 'i3']) {
      const found = catalog.find(sandboxId)
      await source.answer({ ...live, sandboxId })
      await found
    }
    expect((await catalog.find('i3'))?.sandboxId).toBe('i3')
    expect((await catalog.find('i2'))?.sandboxId).toBe('i2')
    const again = catalog.find('i1')
    await turn()
    expect(source.pending.length).toBe(1)
    await source.answer(live)
    await again
  })

  it('fails when its source fails, and recovers with it', async () => {
    const { source, catalog } = setUp()
    source.failure = new Error('down')
    await expect(Promise.all([catalog.find('i1'), catalog.find('i1')])).rejects.toThrow('down')
    source.failure = undefined
    const found = catalog.find('i1')
    await source.answer(live)
    expect(await found).toEqual(live)
  })
})

describe('a flood of unknown ids', () => {
  it('uses a few concurrent queries, each for many ids, and is refused over the cap', async () => {
    const { source, catalog } = setUp({ maxQueries: 2, maxWaiting: 300 })
    const found = Array.from({ length: 300 }, (_, i) => catalog.find(`i${i}`))
    await expect(catalog.find('late')).rejects.toMatchObject({ problem: { kind: 'limit', cap: 'route_lookups', limit: 300 } })
    let queries = 0
    while (source.pending.length > 0) {
      expect(source.pending.length).toBeLessThanOrEqual(2)
      queries += 1
      await source.answer(undefined)
    }
    await Promise.all(found)
    expect(queries).toBe(2)
  })
})

describe('isCurrent', () => {
  it('reads a cached route again, once for concurrent calls', async () => {
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
