import { describe, expect, it } from 'vitest'
import { AuthCache } from './auth-cache.ts'
import type { Principal } from './principal.ts'

const principal: Principal = { via: 'api_key', apiKeyId: '1' }

/** A cache whose look-ups end when the test answers them. */
class Directory {
  readonly cache = new AuthCache()
  readonly asked: string[] = []
  readonly #answers: ((found: Principal | undefined) => void)[] = []

  resolve(key: string): Promise<Principal | undefined> {
    return this.cache.resolve(key, () => {
      this.asked.push(key)
      return new Promise((resolve) => this.#answers.push(resolve))
    })
  }

  /** Answers every look-up until none is in flight. */
  async answer(found?: Principal): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#answers.length > 0) {
      this.#answers.shift()?.(found)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

describe('AuthCache', () => {
  it.each([principal, undefined])('makes one look-up for concurrent and later requests with a credential: %j', async (found) => {
    const directory = new Directory()
    const first = Array.from({ length: 20 }, () => directory.resolve('a'))
    await directory.answer(found)
    expect(await Promise.all([...first, directory.resolve('a')])).toEqual(Array(21).fill(found))
    expect(directory.asked).toEqual(['a'])
    directory.cache.clear()
    void directory.resolve('a')
    await directory.answer(found)
    expect(directory.asked).toEqual(['a', 'a'])
  })

  it('does not cache the result of a look-up that was in flight when a right changed, and does not share it with later requests', async () => {
    const directory = new Directory()
    const before = directory.resolve('a')
    await new Promise((resolve) => setImmediate(resolve))
    directory.cache.clear()
    const after = directory.resolve('a')
    await directory.answer(principal)
    expect([await before, await after]).toEqual([principal, principal])
    expect(directory.asked).toEqual(['a', 'a'])
  })

  it('caches nothing while changes of rights are not heard, and caches again afterwards', async () => {
    const directory = new Directory()
    const ask = async () => {
      const asked = directory.resolve('a')
      await directory.answer(principal)
      expect(await asked).toEqual(principal)
    }
    await ask()
    directory.cache.suspend()
    await ask()
    await ask()
    expect(directory.asked).toHaveLength(3)
    directory.cache.resume()
    await ask()
    await ask()
    expect(directory.asked).toHaveLength(4)
  })

  it('looks up a known credential again while it is not certain that changes were heard, without counting it as a try', async () => {
    const cache = new AuthCache()
    let found: Principal | undefined = principal
    let asked = 0
    let tries = 0
    const resolve = () =>
      cache.resolve(
        'a',
        async () => {
          asked++
          return found
        },
        { beforeLookUp: () => (tries += 1) },
      )
    const certain = performance.now() + 3_600_000
    cache.heard(certain)
    await resolve()
    await resolve()
    expect([asked, tries]).toEqual([1, 1])
    cache.heard(performance.now() - 1000)
    await resolve()
    expect([asked, tries]).toEqual([2, 1])
    cache.heard(certain)
    await resolve()
    expect(asked).toBe(2)
    cache.heard(performance.now() - 1000)
    found = undefined
    expect([await resolve(), await resolve(), asked]).toEqual([undefined, undefined, 3])
  })

  it('does not cache a failure', async () => {
    const directory = new Directory()
    await expect(directory.cache.resolve('a', () => Promise.reject(new Error('down')))).rejects.toThrow('down')
    const again = directory.resolve('a')
    await directory.answer(principal)
    expect(await again).toEqual(principal)
  })

  it('limits concurrent look-ups, and refuses requests when too many wait', async () => {
    const directory = new Directory()
    const outcomes = Promise.allSettled(Array.from({ length: 1000 }, (_, n) => directory.resolve(`key ${n}`)))
    await new Promise((resolve) => setImmediate(resolve))
    expect(directory.asked).toHaveLength(4)
    await directory.answer()
    const refused = (await outcomes).filter((outcome) => outcome.status === 'rejected')
    expect(refused.length).toBeGreaterThan(700)
    expect(refused[0]?.reason).toMatchObject({ kind: 'resource_exhausted' })
    expect(directory.asked.length + refused.length).toBe(1000)
  })

  it('calls the check of each request that shares a look-up, and refuses only those whose check throws', async () => {
    const cache = new AuthCache()
    const found = Promise.withResolvers<Principal>()
    const look = (): Promise<Principal> => found.promise
    const refuse = (): never => {
      throw new Error('too many')
    }
    const first = cache.resolve('a', look, { beforeLookUp: refuse })
    const second = cache.resolve('a', look)
    const third = cache.resolve('a', look, { beforeLookUp: refuse })
    await expect(first).rejects.toThrow('too many')
    await expect(third).rejects.toThrow('too many')
    found.resolve(principal)
    expect(await second).toBe(principal)
    expect(await cache.resolve('a', look, { beforeLookUp: refuse })).toBe(principal)
  })
})
