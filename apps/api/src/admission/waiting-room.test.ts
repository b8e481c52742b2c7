import { pollUntil } from '@sandyard/kit/async/poll-until'
import { expect, it } from 'vitest'
import type { Shortage } from './host-room.ts'
import { WaitingRoom, type WaitingRoomOptions } from './waiting-room.ts'

interface Bench {
  readonly room: WaitingRoom<string>
  /** The starts that have had a turn, in order. */
  readonly turns: string[]
  readonly shortages: Shortage[]
  /** What the host is short of now. */
  lack: Shortage | undefined
  /** Lets a start ask for a turn. Its turn ends when `release` is called with its name. */
  ask(owner: string, name: string, signal?: AbortSignal): Promise<void>
  release(name: string): void
}

const FOREVER_MS = 60_000

function benchOf(options: Partial<WaitingRoomOptions<string>> = {}): Bench {
  const ends = new Map<string, () => void>()
  const bench: Bench = {
    room: new WaitingRoom<string>({
      width: 1,
      places: 100,
      placesPerOwner: 50,
      turnWaitMs: FOREVER_MS,
      shortageWaitMs: FOREVER_MS,
      shortageOf: async () => bench.lack,
      onShortage: (shortage) => bench.shortages.push(shortage),
      onRefused: (why) => new Error(`refused: ${why}`),
      ...options,
    }),
    turns: [],
    shortages: [],
    lack: undefined,
    async ask(owner, name, signal = new AbortController().signal) {
      const end = await bench.room.enter(owner, name, signal)
      bench.turns.push(name)
      ends.set(name, end)
    },
    release: (name) => ends.get(name)?.(),
  }
  return bench
}

const turned = (bench: Bench, count: number): Promise<unknown> =>
  pollUntil({ what: `${count} turns`, timeoutMs: 20_000, everyMs: 1 }, async () => (bench.turns.length >= count ? true : undefined))

it('gives so many turns at once, and the next one when one ends', async () => {
  const bench = benchOf({ width: 2 })
  const asked = ['a', 'b', 'c', 'd'].map((name) => bench.ask('team', name))
  await turned(bench, 2)
  expect([bench.turns, bench.room.busy, bench.room.waiting]).toEqual([['a', 'b'], 2, 2])
  bench.release('b')
  bench.release('b')
  await turned(bench, 3)
  expect([bench.turns, bench.room.waiting]).toEqual([['a', 'b', 'c'], 1])
  bench.release('a')
  await Promise.all(asked)
  for (const name of ['c', 'd']) bench.release(name)
  expect(bench.room.busy).toBe(0)
})

it('gives turns to one owner after the other, however many starts each has', async () => {
  const bench = benchOf()
  const names = ['big1', 'big2', 'big3', 'big4', 'big5', 'big6']
  const asked = names.map((name) => bench.ask('big', name))
  asked.push(bench.ask('small', 'small1'), bench.ask('other', 'other1'), bench.ask('small', 'small2'))
  const order: string[] = []
  while (order.length < asked.length) {
    await turned(bench, order.length + 1)
    const name = bench.turns.at(-1) ?? ''
    order.push(name)
    bench.release(name)
  }
  await Promise.all(asked)
  expect(order).toEqual(['big1', 'small1', 'other1', 'big2', 'small2', 'big3', 'big4', 'big5', 'big6'])
})

it('refuses at once what has no place, and an owner cannot take all places', async () => {
  const bench = benchOf({ places: 4, placesPerOwner: 2 })
  const first = bench.ask('a', 'a1')
  await first
  const waiting = [bench.ask('a', 'a2'), bench.ask('a', 'a3')]
  await expect(bench.ask('a', 'a4')).rejects.toThrow('refused: room')
  waiting.push(bench.ask('b', 'b1'), bench.ask('c', 'c1'))
  await expect(bench.ask('d', 'd1')).rejects.toThrow('refused: room')
  expect(bench.room.waiting).toBe(4)
  for (let count = 1; count < 5; count += 1) {
    bench.release(bench.turns.at(-1) ?? '')
    await turned(bench, count + 1)
  }
  await Promise.all(waiting)
})

it('lets nobody in while the host is short of something, and goes on by itself', async () => {
  const bench = benchOf({ width: 8 })
  bench.lack = 'memory'
  const asked = [bench.ask('a', 'a1'), bench.ask('b', 'b1')]
  await pollUntil({ what: 'two looks', timeoutMs: 20_000, everyMs: 1 }, async () => (bench.shortages.length > 1 ? true : undefined))
  expect([bench.turns, bench.room.shortage, bench.room.waiting]).toEqual([[], 'memory', 2])
  bench.lack = undefined
  await Promise.all(asked)
  expect([bench.turns, bench.room.shortage]).toEqual([['a1', 'b1'], undefined])
})

it('refuses what has waited too long for the host, and serves the next ones afterwards', async () => {
  const bench = benchOf({ shortageWaitMs: 50 })
  bench.lack = 'disk'
  await Promise.all(['a', 'b'].map((name) => expect(bench.ask(name, name)).rejects.toThrow('refused: disk')))
  bench.lack = undefined
  await bench.ask('a', 'later')
  expect([bench.turns, bench.room.waiting]).toEqual([['later'], 0])
})

it('refuses what has waited too long for its turn', async () => {
  const bench = benchOf({ turnWaitMs: 50 })
  await bench.ask('a', 'a1')
  await expect(bench.ask('b', 'b1')).rejects.toThrow('refused: turn')
  bench.release('a1')
  await bench.ask('b', 'b2')
  expect(bench.turns).toEqual(['a1', 'b2'])
})

it('forgets a start that has given up, in any place of the queue', async () => {
  const bench = benchOf()
  await bench.ask('a', 'a1')
  const gone = new AbortController()
  const given = [bench.ask('a', 'a2', gone.signal), bench.ask('b', 'b1', gone.signal)]
  const stays = bench.ask('a', 'a3')
  const refused = Promise.all(given.map((start) => expect(start).rejects.toThrow('given up')))
  gone.abort(new Error('given up'))
  await refused
  expect(bench.room.waiting).toBe(1)
  bench.release('a1')
  await stays
  await expect(bench.ask('a', 'a4', gone.signal)).rejects.toThrow('given up')
  expect(bench.turns).toEqual(['a1', 'a3'])
})
