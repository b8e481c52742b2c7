import { describe, expect, it } from 'vitest'
import { retryFreeze } from './retry-freeze.ts'

const UNABLE = new Error('(HTTP code 500) server error - Cannot pause container 35: OCI runtime pause failed: unable to freeze: unknown')

/** A call that fails with each error in turn and then returns how often it was called. */
function failing(...errors: Error[]): () => Promise<number> {
  let calls = 0
  return async () => {
    calls += 1
    const error = errors.shift()
    if (error !== undefined) throw error
    return calls
  }
}

describe('retryFreeze', () => {
  it('repeats a call while the kernel cannot freeze the container', async () => {
    expect(await retryFreeze(failing(UNABLE, UNABLE))).toBe(3)
  })

  it('gives up after five tries', async () => {
    await expect(retryFreeze(failing(UNABLE, UNABLE, UNABLE, UNABLE, UNABLE))).rejects.toBe(UNABLE)
  })

  it('does not repeat a call that fails otherwise', async () => {
    const refusal = new Error('(HTTP code 409) Container 35 is not running')
    await expect(retryFreeze(failing(refusal))).rejects.toBe(refusal)
  })
})
