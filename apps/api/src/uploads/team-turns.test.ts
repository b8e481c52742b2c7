import { describe, expect, it } from 'vitest'
import { TeamTurns, type TurnLimits } from './team-turns.ts'

/** Work that goes on until it is told to end, by its name. */
class Works {
  readonly started: string[] = []
  readonly #ends = new Map<string, () => void>()
  readonly #runs = new Map<string, Promise<void>>()
  readonly #turns: TeamTurns

  constructor(limits: TurnLimits) {
    this.#turns = new TeamTurns(limits)
  }

  begin(team: string, name: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#ends.set(name, resolve)
    const run = this.#turns.run(team, async () => {
      this.started.push(name)
      await promise
    })
    this.#runs.set(name, run)
    return run
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)?.()
    await this.#runs.get(name)
  }
}

describe('TeamTurns', () => {
  it('gives a team that has many no more than its own, and the rest to others', async () => {
    const works = new Works({ perTeam: 1, inAll: 2 })
    for (const name of ['a1', 'a2', 'a3']) void works.begin('a', name)
    void works.begin('b', 'b1')
    void works.begin('c', 'c1')
    await expect.poll(() => works.started).toEqual(['a1', 'b1'])
    await works.end('a1')
    await expect.poll(() => works.started).toEqual(['a1', 'b1', 'c1'])
    await works.end('b1')
    await expect.poll(() => works.started).toEqual(['a1', 'b1', 'c1', 'a2'])
  })

  it('refuses a team that has too many waiting, as long as it has', async () => {
    const works = new Works({ perTeam: 2, waiting: 1 })
    for (const name of ['a1', 'a2', 'a3']) void works.begin('a', name)
    const refusal = {
      kind: 'resource_exhausted',
      message: 'The team has 3 uploads under way: wait for some of them',
      headers: { 'retry-after': '30' },
    }
    await expect(works.begin('a', 'a4')).rejects.toMatchObject(refusal)
    void works.begin('b', 'b1')
    await works.end('a2')
    void works.begin('a', 'a5')
    await expect.poll(() => works.started).toEqual(['a1', 'a2', 'b1', 'a3'])
  })

  it('gives the turn on when work fails', async () => {
    const turns = new TeamTurns({ perTeam: 1 })
    const failed = turns.run('a', () => Promise.reject(new Error('broken')))
    const next = turns.run('a', async () => 'done')
    await expect(failed).rejects.toThrow('broken')
    expect(await next).toBe('done')
  })
})
