import { describe, expect, it } from 'vitest'
import { pollUntil } from './poll-until.ts'
import { Semaphore } from './semaphore.ts'
import { SingleFlight } from './single-flight.ts'

describe('SingleFlight', () => {
  it('shares a call that is under way and forgets it afterwards', async () => {
    const flight = new SingleFlight<string, number>()
    let calls = 0
    const work = async (): Promise<number> => ++calls
    expect(await Promise.all([flight.run('a', work), flight.run('a', work), flight.run('b', work)])).toEqual([1, 1, 2])
    expect(await flight.run('a', work)).toBe(3)
  })
})

describe('Semaphore', () => {
  it('never lets in more than its width', async () => {
    const semaphore = new Semaphore(2)
    let inside = 0
    let most = 0
    const work = async (): Promise<void> => {
      inside += 1
      most = Math.max(most, inside)
      await new Promise((resolve) => setImmediate(resolve))
      inside -= 1
    }
    await Promise.all(Array.from({ length: 9 }, () => semaphore.run(work)))
    expect(most).toBe(2)
  })
})

describe('pollUntil', () => {
  it('returns the first value and says what it waited for when there is none', async () => {
    let tries = 0
    expect(await pollUntil({ what: 'it', timeoutMs: 1000, everyMs: 1 }, () => (++tries === 3 ? tries : undefined))).toBe(3)
    await expect(pollUntil({ what: 'rain', timeoutMs: 2, everyMs: 1 }, () => undefined)).rejects.toThrow('timed out waiting for rain')
  })
})
