import { EngineBench } from '../../packages/runtime-docker/test/support/engine-bench.ts'
import { chainSnapshots } from '../../packages/runtime-docker/test/support/snapshot-chain.ts'

/** The engine's storage (overlay2) mounts at most this many layers. */
const MOST_LAYERS = 125
const MIB = 1024 ** 2

/**
 * Makes a chain of snapshots, each of a paused sandbox that was created from the former one: `npm run long:snapshot-chain [-- count]`,
 * default 200. Exits with 1 when a line of an earlier sandbox is missing or a snapshot has more layers than the engine can mount.
 */
async function main(count: number): Promise<boolean> {
  await using bench = await EngineBench.open()
  let added = 0
  const { rounds, lines } = await chainSnapshots(bench, {
    rounds: count,
    onRound: ({ round, layers, sizeBytes }) => {
      added += sizeBytes
      if (round % 10 === 0) console.log(`${round} snapshots: ${layers} layers, ${(added / MIB).toFixed(2)} MiB added by all`)
    },
  })
  const most = Math.max(...rounds.map(({ layers }) => layers))
  const isWhole = lines.length === count && lines.every((line, index) => line === String(index + 1))
  console.log(`${count} snapshots, at most ${most} layers, ${isWhole ? 'every line is there' : `lines are missing: ${lines.join(' ')}`}`)
  return isWhole && most <= MOST_LAYERS
}

process.exitCode = (await main(Number(process.argv[2] ?? 200))) ? 0 : 1
