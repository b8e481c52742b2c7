import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { TeamTurns } from './team-turns.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('lets two of a team work at once, the others in their order, and does not delay other teams', async () => {
  const turns = new TeamTurns()
  const began: string[] = []
  const works = new Map<string, PromiseWithResolvers<void>>()
  const run = (teamId: string, name: string): Promise<void> =>
    turns.run(teamId, () => {
      began.push(name)
      const work = Promise.withResolvers<void>()
      works.set(name, work)
      return work.promise
    })
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => run('a', name))
  all.push(run('b', 'b1'))
  expect(began).toEqual(['a1', 'a2', 'b1'])
  const failed = expect(all[1]).rejects.toThrow('no')
  works.get('a2')?.reject(new Error('no'))
  await failed
  await vi.advanceTimersByTimeAsync(0)
  expect(began).toEqual(['a1', 'a2', 'b1', 'a3'])
  for (const name of ['a1', 'a3', 'b1']) works.get(name)?.resolve()
  await vi.advanceTimersByTimeAsync(0)
  works.get('a4')?.resolve()
  await Promise.allSettled(all)
  expect(began).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
})

it('refuses what has waited for ten seconds, and serves the next ones', async () => {
  const turns = new TeamTurns()
  const work = Promise.withResolvers<void>()
  const working = [turns.run('a', () => work.promise), turns.run('a', () => work.promise)]
  const late = turns.run('a', async () => 'late')
  const refused = expect(late).rejects.toMatchObject({ kind: 'unavailable' })
  await vi.advanceTimersByTimeAsync(10_000)
  await refused
  work.resolve()
  await Promise.all(working)
  expect(await turns.run('a', async () => 'next')).toBe('next')
})

it('refuses at once when 512 of the team wait', async () => {
  const turns = new TeamTurns()
  const work = Promise.withResolvers<string>()
  const running = Array.from({ length: 2 + 512 }, () => turns.run('a', () => work.promise))
  await expect(turns.run('a', () => work.promise)).rejects.toMatchObject({ kind: 'unavailable' })
  expect(await turns.run('b', async () => 'other')).toBe('other')
  work.resolve('done')
  expect(new Set(await Promise.all(running))).toEqual(new Set(['done']))
})
