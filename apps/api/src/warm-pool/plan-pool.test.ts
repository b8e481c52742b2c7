import { describe, expect, it } from 'vitest'
import type { ReadyBuild } from '../templates/template.ts'
import { parkedMemoryMib, planPool, type ParkedRow, type WantedBuild } from './plan-pool.ts'

const wanted = (buildId: string, count: number, memoryMib = 512): WantedBuild => ({
  templateId: `t-${buildId}`,
  build: { buildId, memoryMib } as ReadyBuild,
  count,
})

let rows = 0
const row = (buildId: string, more: Partial<ParkedRow> = {}): ParkedRow => {
  rows += 1
  return {
    sandboxId: `i${rows}`,
    incarnation: 1,
    buildId,
    state: 'parked',
    memoryMib: 64,
    isCurrent: true,
    isOurs: true,
    isStale: false,
    ...more,
  }
}

interface Options {
  readonly mayPark?: number
  readonly paused?: readonly string[]
  readonly used?: Readonly<Record<string, number>>
}

const BOUNDS = { memoryMib: 1000, perTemplate: 10 }
const plan = (
  builds: WantedBuild[],
  parked: ParkedRow[] = [],
  { mayPark = 100, paused = [], used = {}, ...bounds }: Partial<typeof BOUNDS> & Options = {},
) => {
  const isPaused = (buildId: string): boolean => paused.includes(buildId)
  const usedMib = (buildId: string): number => used[buildId] ?? 0
  const { park, giveUp } = planPool({ ...BOUNDS, ...bounds }, builds, { rows: parked, mayPark, isPaused, usedMib })
  return { park: park.map(({ build }) => build.buildId), giveUp: giveUp.map(({ sandboxId }) => sandboxId) }
}

it('counts an idle sandbox for an eighth of its memory, at least 64 MiB', () => {
  expect([128, 512, 1024, 8000].map((memoryMib) => parkedMemoryMib({ memoryMib }))).toEqual([64, 64, 128, 1000])
})

describe('what is missing', () => {
  it('is started: one of each build first, then the others, up to the bound of a template', () => {
    expect(plan([wanted('a', 3), wanted('b', 1)]).park).toEqual(['a', 'a', 'a', 'b'])
    expect(plan([wanted('a', 30)], [], { perTemplate: 4 }).park).toHaveLength(4)
    expect(plan([wanted('a', 3), wanted('b', 3)], [], { memoryMib: 3 * 64 }).park).toEqual(['a', 'a', 'b'])
  })

  it('does not count what is parked or being started', () => {
    expect(plan([wanted('a', 3)], [row('a'), row('a', { state: 'parking' })]).park).toEqual(['a'])
  })

  it('counts a build once that is wanted under two tags', () => {
    expect(plan([wanted('a', 2), wanted('a', 1)]).park).toEqual(['a', 'a'])
  })

  it('is started within the starts that may begin now, and within the memory', () => {
    expect(plan([wanted('a', 5)], [], { mayPark: 2 }).park).toEqual(['a', 'a'])
    expect(plan([wanted('a', 5)], [], { mayPark: -1 }).park).toEqual([])
    expect(plan([wanted('big', 2, 16_000), wanted('a', 1)]).park).toEqual(['a'])
    expect(plan([wanted('a', 1)], [], { memoryMib: 0 }).park).toEqual([])
  })

  it('counts with what sandboxes of the build use, where that is more', () => {
    expect(plan([wanted('a', 4)], [row('a', { memoryMib: 400 })]).park).toEqual(['a'])
    expect(plan([wanted('a', 4)], [row('a', { memoryMib: 20 })]).park).toEqual(['a', 'a', 'a'])
    expect(plan([wanted('a', 4)], [], { used: { a: 400 } }).park).toEqual(['a', 'a'])
    expect(plan([wanted('a', 1), wanted('b', 1)], [], { used: { a: 1001 } }).park).toEqual(['b'])
  })

  it('is not started of a build that pauses, whose other sandboxes stay', () => {
    expect(plan([wanted('a', 3), wanted('b', 1)], [row('a')], { paused: ['a'] })).toEqual({ park: ['b'], giveUp: [] })
  })

  it('leaves the memory of sandboxes that another server has started in another way', () => {
    expect(plan([wanted('a', 3)], [row('b', { isCurrent: false, memoryMib: 900 })])).toEqual({ park: ['a'], giveUp: [] })
  })
})

describe('what is given up', () => {
  it('is what is stale, and what is not wanted any more', () => {
    const stale = row('a', { isStale: true })
    const other = row('b')
    expect(plan([wanted('a', 1)], [stale, other])).toEqual({ park: ['a'], giveUp: [stale.sandboxId, other.sandboxId] })
  })

  it('begins with the oldest, which would expire first; starts in flight are left to end', () => {
    const [first, second, third] = [row('a'), row('a'), row('a')]
    expect(plan([wanted('a', 1)], [first, second, third])).toEqual({ park: [], giveUp: [second.sandboxId, first.sandboxId] })
    expect(plan([], [row('a', { state: 'parking' })])).toEqual({ park: [], giveUp: [] })
  })

  it('is nothing that another live server has started, which counts all the same', () => {
    const theirs = [row('a', { isOurs: false }), row('a', { isOurs: false })]
    expect(plan([wanted('a', 1)], theirs)).toEqual({ park: [], giveUp: [] })
    const own = row('a')
    expect(plan([wanted('a', 1)], [own, ...theirs])).toEqual({ park: [], giveUp: [own.sandboxId] })
  })

  it('counts what another live server will give up, because nobody wants it any more', () => {
    expect(plan([wanted('a', 3)], [row('b', { isOurs: false, memoryMib: 900 })])).toEqual({ park: ['a'], giveUp: [] })
  })
})
