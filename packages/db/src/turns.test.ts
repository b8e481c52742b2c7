import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Turns, type TurnRequest } from './turns.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const refusal = new Error('refused')
const of = (owners: string | readonly string[], more: Partial<TurnRequest> = {}): TurnRequest => ({
  owners: [owners].flat(),
  isUrgent: false,
  onRefused: () => refusal,
  ...more,
})

class Bench {
  readonly turns = new Turns()
  /** In order. */
  readonly began: string[] = []
  readonly #works = new Map<string, PromiseWithResolvers<void>>()

  async run(name: string, request: TurnRequest): Promise<void> {
    await this.turns.run(request, () => {
      const work = Promise.withResolvers<void>()
      this.#works.set(name, work)
      this.began.push(name)
      return work.promise
    })
  }

  /** Ends work that has begun, or begins now. */
  async end(name: string, err?: Error): Promise<void> {
    await vi.advanceTimersByTimeAsync(0)
    if (err === undefined) this.#works.get(name)?.resolve()
    else this.#works.get(name)?.reject(err)
    await vi.advanceTimersByTimeAsync(0)
  }

  /** Crowds a line of the owner `a`, which `first` works for. */
  async crowd(more: Partial<TurnRequest> = {}): Promise<Promise<void>[]> {
    const running = [this.run('first', of('a'))]
    await vi.advanceTimersByTimeAsync(0)
    for (let n = 0; n < 512; n += 1) running.push(this.turns.run(of('a', more), async () => undefined))
    await vi.advanceTimersByTimeAsync(0)
    return running
  }
}

it('lets one of an owner work at a time, the others in their order, and does not delay other owners', async () => {
  const bench = new Bench()
  const all = ['a1', 'a2', 'a3'].map((name) => bench.run(name, of('a')))
  all.push(bench.run('b1', of('b')))
  await vi.advanceTimersByTimeAsync(0)
  expect(bench.began).toEqual(['a1', 'b1'])
  const failed = expect(all[0]).rejects.toThrow('no')
  await bench.end('a1', new Error('no'))
  await failed
  expect(bench.began).toEqual(['a1', 'b1', 'a2'])
  for (const name of ['b1', 'a2', 'a3']) await bench.end(name)
  await Promise.allSettled(all)
  expect(bench.began).toEqual(['a1', 'b1', 'a2', 'a3'])
})

it('refuses what has waited for ten seconds, and serves the next ones', async () => {
  const bench = new Bench()
  const working = bench.run('first', of('a'))
  const refused = expect(bench.run('late', of('a'))).rejects.toBe(refusal)
  await vi.advanceTimersByTimeAsync(10_000)
  await refused
  const next = bench.run('next', of('a'))
  await bench.end('first')
  await bench.end('next')
  await Promise.all([working, next])
  expect(bench.began).toEqual(['first', 'next'])
})

it('refuses at once when 512 of the owner wait, and no other owner', async () => {
  const bench = new Bench()
  const running = await bench.crowd()
  await expect(bench.run('one more', of('a'))).rejects.toBe(refusal)
  const other = bench.run('other', of('b'))
  const behind = bench.run('behind', of('b'))
  await vi.advanceTimersByTimeAsync(0)
  expect(bench.turns.waiting).toEqual({ all: 513, most: 512 })
  await bench.end('other')
  await bench.end('behind')
  await behind
  await other
  await bench.end('first')
  await Promise.all(running)
  expect(bench.turns.waiting).toEqual({ all: 0, most: 0 })
})

it('serves urgent ones first, also when 512 others wait, and refuses too many of them', async () => {
  const bench = new Bench()
  const running = await bench.crowd()
  running.push(bench.run('urgent', of('a', { isUrgent: true })))
  await bench.end('first')
  expect(bench.began).toEqual(['first', 'urgent'])
  await bench.end('urgent')
  await Promise.all(running)

  const full = await bench.crowd({ isUrgent: true })
  await expect(bench.run('one more', of('a', { isUrgent: true }))).rejects.toBe(refusal)
  await bench.end('first')
  await Promise.all(full)
})

it('lets one leave whose signal aborts, and leaves work alone that has begun', async () => {
  const bench = new Bench()
  const [gone, stays] = [new AbortController(), new AbortController()]
  const works = bench.run('first', of('a', { signal: stays.signal }))
  const left = expect(bench.run('gone', of('a', { signal: gone.signal }))).rejects.toThrow('it has gone')
  const next = bench.run('next', of('a'))
  gone.abort(new Error('it has gone'))
  await left
  await expect(bench.run('late', of('a', { signal: gone.signal }))).rejects.toThrow('it has gone')
  stays.abort()
  await bench.end('first')
  await bench.end('next')
  await Promise.all([works, next])
  expect(bench.began).toEqual(['first', 'next'])
})

it('takes the turns of several owners in one order', async () => {
  const bench = new Bench()
  const all = [bench.run('ab', of(['a', 'b'])), bench.run('ba', of(['b', 'a', 'b'])), bench.run('b', of('b'))]
  await vi.advanceTimersByTimeAsync(0)
  expect(bench.began).toEqual(['b'])
  for (const name of ['b', 'ab', 'ba']) await bench.end(name)
  await Promise.all(all)
  expect(bench.began).toEqual(['b', 'ab', 'ba'])
})

it('gives back the turns that it has when it gets no further one', async () => {
  const bench = new Bench()
  const works = bench.run('b', of('b'))
  const refused = expect(bench.run('ab', of(['a', 'b']))).rejects.toBe(refusal)
  await vi.advanceTimersByTimeAsync(10_000)
  await refused
  const next = bench.run('a', of('a'))
  await bench.end('a')
  await next
  await bench.end('b')
  await works
  expect(bench.began).toEqual(['b', 'a'])
})
