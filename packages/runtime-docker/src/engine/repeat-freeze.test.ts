import { expect, it } from 'vitest'
import { repeatFreeze } from './repeat-freeze.ts'

const UNABLE = new Error('(HTTP code 500) server error - Cannot pause container: OCI runtime pause failed: unable to freeze: unknown')

/** Fails with these errors, one for each call, and then succeeds. */
function failing(...errors: readonly Error[]): { freeze: () => Promise<string>; calls: () => number } {
  let calls = 0
  const freeze = async (): Promise<string> => {
    const error = errors[calls]
    calls += 1
    if (error !== undefined) throw error
    return 'frozen'
  }
  return { freeze, calls: () => calls }
}

it('repeats a freeze that runc gave up', async () => {
  const { freeze, calls } = failing(UNABLE, UNABLE)
  expect(await repeatFreeze(freeze)).toBe('frozen')
  expect(calls()).toBe(3)
})

it('gives up after some tries, and at once for another error', async () => {
  const always = failing(...Array.from({ length: 20 }, () => UNABLE))
  await expect(repeatFreeze(always.freeze)).rejects.toBe(UNABLE)
  expect(always.calls()).toBeLessThan(20)
  const other = failing(new Error('no such container'))
  await expect(repeatFreeze(other.freeze)).rejects.toThrow('no such container')
  expect(other.calls()).toBe(1)
})
