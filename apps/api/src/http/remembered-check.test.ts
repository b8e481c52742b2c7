import { expect, it } from 'vitest'
import { RememberedCheck } from './remembered-check.ts'

/** A check whose calls the test ends. */
function script(): { calls: PromiseWithResolvers<void>[]; check: () => Promise<void> } {
  const calls: PromiseWithResolvers<void>[] = []
  const check = (): Promise<void> => {
    const call = Promise.withResolvers<void>()
    calls.push(call)
    return call.promise
  }
  return { calls, check }
}

it('runs one check for concurrent callers and caches its result', async () => {
  const { calls, check } = script()
  const ready = new RememberedCheck(check, { rememberMs: 60_000, timeoutMs: 60_000 })
  const asked = Array.from({ length: 1000 }, () => ready.passes())
  calls[0]?.resolve()
  expect(new Set(await Promise.all(asked))).toEqual(new Set([true]))
  expect(await ready.passes()).toBe(true)
  expect(calls).toHaveLength(1)
})

it('runs the check again when the cached result has expired', async () => {
  const { calls, check } = script()
  const ready = new RememberedCheck(check, { rememberMs: 0, timeoutMs: 60_000 })
  const first = ready.passes()
  calls[0]?.reject(new Error('gone'))
  expect(await first).toBe(false)
  const second = ready.passes()
  calls[1]?.resolve()
  expect(await second).toBe(true)
})

it('fails after its deadline, and starts no second check while one hangs', async () => {
  const { calls, check } = script()
  const ready = new RememberedCheck(check, { rememberMs: 0, timeoutMs: 10 })
  expect(await ready.passes()).toBe(false)
  expect(await ready.passes()).toBe(false)
  expect(calls).toHaveLength(1)
  calls[0]?.resolve()
  const last = ready.passes()
  expect(await last).toBe(true)
})
