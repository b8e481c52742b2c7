import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { mapConcurrently } from './map-concurrently.ts'

describe('mapConcurrently', () => {
  it('keeps the order of the items and never has more in flight than its width', async () => {
    let inFlight = 0
    let most = 0
    const results = await mapConcurrently([5, 1, 4, 2, 3], 2, async (turns) => {
      most = Math.max(most, ++inFlight)
      for (let index = 0; index < turns; index++) await turn()
      inFlight--
      return turns * 10
    })
    expect([results, most]).toEqual([[50, 10, 40, 20, 30], 2])
    expect(await mapConcurrently([], 3, () => Promise.reject(new Error('not called')))).toEqual([])
  })

  it('starts nothing after a failure and waits for calls in flight', async () => {
    const seen: number[] = []
    const settled: number[] = []
    const mapping = mapConcurrently([1, 2, 3, 4], 2, async (item) => {
      seen.push(item)
      if (item === 1) throw new Error('first')
      await turn()
      settled.push(item)
    })
    await expect(mapping).rejects.toThrow('first')
    expect([seen, settled]).toEqual([[1, 2], [2]])
  })
})
