import { AppError } from '@sandyard/kit/errors/app-error'
import { describe, expect, it } from 'vitest'
import { FairQueue, type FairQueueOptions } from './fair-queue.ts'

const onFull = (cap: 'owner' | 'all', count: number): AppError => new AppError('resource_exhausted', `${cap} ${count}`)

/** Named jobs, each of which runs until it is ended. */
class Jobs {
  readonly started: string[] = []
  readonly #ends = new Map<string, () => void>()
  readonly #runs = new Map<string, Promise<void>>()
  readonly #queue: FairQueue

  constructor(options: Omit<FairQueueOptions, 'onFull'>) {
    this.#queue = new FairQueue({ ...options, onFull })
  }

  begin(owner: string, name: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#ends.set(name, resolve)
    const run = this.#queue.run(owner, async () => {
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

describe('FairQueue', () => {
  it('starts the jobs of other owners before the later jobs of an owner with many', async () => {
    const jobs = new Jobs({ perOwner: 1, inAll: 2 })
    for (const name of ['a1', 'a2', 'a3']) void jobs.begin('a', name)
    void jobs.begin('b', 'b1')
    void jobs.begin('c', 'c1')
    await expect.poll(() => jobs.started).toEqual(['a1', 'b1'])
    await jobs.end('a1')
    await expect.poll(() => jobs.started).toEqual(['a1', 'b1', 'c1'])
    await jobs.end('b1')
    await expect.poll(() => jobs.started).toEqual(['a1', 'b1', 'c1', 'a2'])
  })

  it('refuses the jobs of an owner above its cap until one has ended', async () => {
    const jobs = new Jobs({ perOwner: 2, waitingPerOwner: 1 })
    for (const name of ['a1', 'a2', 'a3']) void jobs.begin('a', name)
    await expect(jobs.begin('a', 'a4')).rejects.toMatchObject({ kind: 'resource_exhausted', message: 'owner 3' })
    void jobs.begin('b', 'b1')
    await jobs.end('a2')
    void jobs.begin('a', 'a5')
    await expect.poll(() => jobs.started).toEqual(['a1', 'a2', 'b1', 'a3'])
  })

  it('refuses jobs above the cap of all owners until one has ended', async () => {
    const jobs = new Jobs({ perOwner: 1, inAll: 1, waitingInAll: 1 })
    void jobs.begin('a', 'a1')
    void jobs.begin('b', 'b1')
    await expect(jobs.begin('c', 'c1')).rejects.toThrow('all 2')
    await jobs.end('a1')
    void jobs.begin('c', 'c2')
    await jobs.end('b1')
    await expect.poll(() => jobs.started).toEqual(['a1', 'b1', 'c2'])
  })

  it('lets owners take turns, also those that may run several jobs', async () => {
    const jobs = new Jobs({ perOwner: 3, inAll: 4 })
    for (const name of ['a1', 'a2', 'a3', 'a4']) void jobs.begin('a', name)
    for (const name of ['b1', 'b2', 'b3', 'c1']) void jobs.begin(name.slice(0, 1), name)
    await expect.poll(() => jobs.started).toEqual(['a1', 'a2', 'a3', 'b1'])
    for (const name of ['a1', 'a2', 'b1', 'a3']) await jobs.end(name)
    await expect.poll(() => jobs.started.slice(4)).toEqual(['b2', 'c1', 'a4', 'b3'])
  })

  it('starts work of the process itself first, beyond the cap of an owner', async () => {
    const queue = new FairQueue({ perOwner: 1, inAll: 2, waitingPerOwner: 1, onFull })
    const [a, own] = [await queue.enter('a'), await queue.enter(undefined)]
    const entered: string[] = []
    const others = [queue.enter('b').then(() => entered.push('b')), queue.enter(undefined).then(() => entered.push('own'))]
    expect([queue.running, queue.waiting]).toEqual([2, 2])
    a()
    await expect.poll(() => entered).toEqual(['own'])
    own()
    await Promise.all(others)
    expect(entered).toEqual(['own', 'b'])
    expect([queue.running, queue.waiting]).toEqual([2, 0])
  })

  it('ends a wait late or by its signal, and keeps the turns of the others', async () => {
    const queue = new FairQueue({ perOwner: 1, inAll: 1, onFull })
    const leave = await queue.enter('a')
    const [gone, late] = [new AbortController(), new Error('late')]
    const left = queue.enter('b', { signal: gone.signal })
    const waited = queue.enter('c', { timeoutMs: 1, onLate: () => late })
    const next = queue.enter('d')
    await expect(waited).rejects.toBe(late)
    gone.abort(new Error('gone'))
    // Before the code that waited hears of it.
    leave()
    await expect(left).rejects.toThrow('gone')
    const leaveNext = await next
    expect([queue.running, queue.waiting]).toEqual([1, 0])
    leaveNext()
    expect(queue.running).toBe(0)
  })

  it('starts the next job when one fails', async () => {
    const queue = new FairQueue({ perOwner: 1, onFull })
    const failed = queue.run('a', () => Promise.reject(new Error('broken')))
    const next = queue.run('a', async () => 'done')
    await expect(failed).rejects.toThrow('broken')
    expect(await next).toBe('done')
  })
})
