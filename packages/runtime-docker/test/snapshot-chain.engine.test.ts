import { expect, it } from 'vitest'
import { EngineBench } from './support/engine-bench.ts'
import { chainSnapshots } from './support/snapshot-chain.ts'

it('a chain of snapshots stays under the limit of layers, keeps its files and grows by what has changed', async () => {
  await using bench = await EngineBench.open()
  const { rounds, lines } = await chainSnapshots(bench, { rounds: 8, maxLayers: 5 })
  expect(lines).toEqual(Array.from({ length: 8 }, (_, index) => String(index + 1)))
  expect(Math.max(...rounds.map(({ layers }) => layers))).toBe(4)
  expect(rounds.filter(({ layers }) => layers <= 2).length).toBeGreaterThan(1)
  // The line, the files that the engine mounts, and their folders.
  for (const { sizeBytes, round } of rounds) {
    expect(sizeBytes, `round ${round}`).toBeGreaterThan(0)
    expect(sizeBytes, `round ${round}`).toBeLessThan(1024 ** 2)
  }
}, 300_000)
