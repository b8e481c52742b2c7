import { randomId } from '@sandyard/kit/ids/ids'
import type { RuntimeSnapshot } from '@sandyard/runtime/types'
import { type EngineBench, sandboxSpec } from './engine-bench.ts'
import { Inside } from './inside.ts'

export interface ChainOptions {
  readonly rounds: number
  readonly maxLayers?: number
  readonly onRound?: (round: ChainRound) => void
}

interface ChainRound {
  readonly round: number
  readonly layers: number
  /** What the snapshot adds. */
  readonly sizeBytes: number
}

export interface Chain {
  readonly rounds: readonly ChainRound[]
  /** The lines that the sandboxes have written, as the last one reads them. */
  readonly lines: readonly string[]
}

/** Makes a chain of snapshots, each of a paused sandbox that was created from the former one and has written a line. */
export async function chainSnapshots(bench: EngineBench, { rounds: count, maxLayers, onRound }: ChainOptions): Promise<Chain> {
  const runtime = await bench.runtime(maxLayers === undefined ? {} : { maxLayers })
  const rounds: ChainRound[] = []
  let former: RuntimeSnapshot | undefined
  let lines: string[] = []
  for (let round = 1; round <= count; round += 1) {
    const spec = sandboxSpec()
    const inside = new Inside(await (former === undefined ? runtime.create(spec) : runtime.createFrom(former, spec)))
    lines = (await inside.sh(`echo ${round} >> /root/lines; cat /root/lines`)).stdout.trim().split('\n')
    await runtime.pause(spec, round % 2 === 0 ? 'memory' : 'files')
    former = await runtime.snapshot(spec, { name: `snap-${randomId(8)}`, keep: 'files' })
    await runtime.remove(spec)
    const { RootFS } = await bench.docker.getImage(former.image).inspect()
    const made = { round, layers: RootFS.Layers?.length ?? 0, sizeBytes: former.sizeBytes }
    rounds.push(made)
    onRound?.(made)
  }
  return { rounds, lines }
}
