import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Goal } from '../../goal.ts'
import type { Comparison } from '../../report.ts'
import { timeMs } from '../../samples.ts'
import type { Bench } from '../bench.ts'
import { compare } from '../compare.ts'
import { logText } from '../log-text.ts'

const MIB = 64
const BYTES = MIB * 1024 * 1024
const REPEAT = { times: 10, warmUps: 1, countCpu: true }

/** The goal for a throughput that is a multiple of the reference's. As a time it is the inverse. */
const timesAsFast = (multiple: number): Goal => ({ of: 'ratio', at: ['p50'], atMost: 1 / multiple })

interface Content {
  readonly name: string
  readonly make: () => Buffer
  readonly goal: Goal
}

const CONTENTS: readonly Content[] = [
  { name: 'random bytes', make: () => randomBytes(BYTES), goal: timesAsFast(3) },
  { name: 'text', make: () => logText(BYTES), goal: timesAsFast(1.3) },
]

/** Downloads large files by the unchanged SDK, with its own `Accept-Encoding`. */
export async function benchDownloads({ daemons }: Bench): Promise<Comparison[]> {
  const comparisons: Comparison[] = []
  for (const { name, make, goal } of CONTENTS) {
    const content = make()
    for (const daemon of [daemons.ours, daemons.reference]) {
      if (daemon !== undefined) await writeFile(join(daemon.container.root, 'tmp/download'), content)
    }
    const what = `download of ${MIB} MiB of ${name}, SDK`
    comparisons.push(
      ...(await compare(daemons, { what, goal, ...REPEAT }, ({ sandbox }) =>
        timeMs(async () => {
          const { length } = await sandbox.files.read('/tmp/download', { format: 'bytes' })
          if (length !== BYTES) throw new Error(`${length} bytes have come`)
        }),
      )),
    )
  }
  return comparisons
}
