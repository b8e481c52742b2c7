import { expect, it } from 'vitest'
import { inBatches } from './in-batches.ts'

it('stops after a batch that is not full, at the cap, or after its signal', async () => {
  const stopping = new AbortController()
  const run = async (counts: readonly number[], signal?: AbortSignal): Promise<number> => {
    const left = [...counts]
    const all = await inBatches({ size: 10, most: 3, signal }, async () => left.shift() ?? 0)
    expect(counts.slice(0, counts.length - left.length).reduce((sum, count) => sum + count, 0)).toBe(all)
    return all
  }
  expect(await run([10, 9, 10])).toBe(19)
  expect(await run([10, 10, 10, 10])).toBe(30)
  const abort = async (): Promise<number> => {
    stopping.abort()
    return 10
  }
  expect(await inBatches({ size: 10, most: 3, signal: stopping.signal }, abort)).toBe(10)
  expect(await run([10], stopping.signal)).toBe(0)
})
