import { describe, expect, it } from 'vitest'
import { loadOnce } from './load-once.ts'
import { pollUntil } from './poll-until.ts'
import { Semaphore } from './semaphore.ts'
import { SingleFlight } from './single-flight.ts'
import { timedStep } from './timed-step.ts'
import { resultWithin, within } from './within.ts'

describe('SingleFlight', () => {
  it('shares a call in flight and starts a new one after its end', async () => {
    const flight = new SingleFlight<string, number>()
    let calls = 0
    const work = async (): Promise<number> => ++calls
    expect(await Promise.all([flight.run('a', work), flight.run('a', work), flight.run('b', work)])).toEqual([1, 1, 2])
    expect(await flight.run('a', work)).toBe(3)
  })
})

describe('Semaphore', () => {
  it('never admits more holders than its width', async () => {
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
  it('returns the first value, or names what it waited for after the deadline', async () => {
    let tries = 0
    expect(await pollUntil({ what: 'it', timeoutMs: 60_000, everyMs: 1 }, () => (++tries === 3 ? tries : undefined))).toBe(3)
    await expect(pollUntil({ what: 'rain', timeoutMs: 2, everyMs: 1 }, () => undefined)).rejects.toThrow('timed out waiting for rain')
  })
})

describe('within', () => {
  const never = (): Promise<never> => new Promise(() => undefined)

  it('stops waiting for work that ignores its signal', async () => {
    await expect(within({ what: 'it', timeoutMs: 1 }, never)).rejects.toMatchObject({ kind: 'deadline_exceeded' })
    await expect(within({ what: 'it', timeoutMs: 60_000, signal: AbortSignal.abort(new Error('stop')) }, never)).rejects.toThrow('stop')
  })

  it('gives work that observes its signal time to reject', async () => {
    const work = (signal: AbortSignal): Promise<string> =>
      new Promise((resolve) => signal.addEventListener('abort', () => setImmediate(() => resolve('undone'))))
    expect(await within({ what: 'it', timeoutMs: 1, graceMs: 60_000 }, work)).toBe('undone')
  })

  it('passes on results and failures', async () => {
    expect(await within({ what: 'it', timeoutMs: 60_000 }, async () => 1)).toBe(1)
    await expect(within({ what: 'it', timeoutMs: 60_000 }, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  })
})

describe('loadOnce', () => {
  it('caches a result, shares a load in flight and does not cache a failure', async () => {
    let loads = 0
    const load = loadOnce(async () => {
      loads += 1
      if (loads === 1) throw new Error('too many open files')
      return loads
    })
    const first = [load(), load()]
    for (const attempt of first) await expect(attempt).rejects.toThrow('too many open files')
    expect(await Promise.all([load(), load(), load()])).toEqual([2, 2, 2])
    expect(loads).toBe(2)
  })
})

describe('resultWithin', () => {
  it('returns the value, throws the failure, or returns undefined after the deadline', async () => {
    expect(await resultWithin(1000, Promise.resolve(1))).toBe(1)
    await expect(resultWithin(1000, Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await resultWithin(1, new Promise(() => undefined))).toBe(undefined)
  })
})

describe('timedStep', () => {
  it('reports the start of a step and its duration', async () => {
    const lines: string[] = []
    const say = (line: string): void => void lines.push(line)
    expect(await timedStep(say, 'building', async () => 'built')).toBe('built')
    expect(lines).toEqual(['building ...', expect.stringMatching(/^building: \d+\.\d s$/)])
    await expect(timedStep(say, 'failing', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(lines.at(-1)).toBe('failing ...')
  })
})
