import type { Goal } from '../../goal.ts'
import type { Comparison } from '../../report.ts'
import type { Samples } from '../../samples.ts'
import type { Bench } from '../bench.ts'
import { toComparisons } from '../compare.ts'
import { readCommands } from '../daemons.ts'

const TIMES = 15
/** design.md 5. */
const GOAL: Goal = { of: 'ratio', at: ['p50'], atMost: 2.5 }

/** From the start of a daemon's process to its first 204 of `/health`, compared with an empty script of its Node; in one container. */
export async function benchStart({ programs, daemons }: Bench): Promise<Comparison[]> {
  const { node, ours, reference } = await readCommands(programs)
  const plan = JSON.stringify({ times: TIMES, exits: { 'node -e 0': [...node, '-e', '0'] }, serves: { ours, reference } })
  const command = [...node, '/bench/daemon/time-start.ts', plan].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const { stdout } = await daemons.ours.sandbox.commands.run(command, { user: 'root', timeoutMs: 120_000 })
  const samples = JSON.parse(stdout) as Record<string, Samples>
  return toComparisons({ what: 'start to the first /health', unit: 'ms' }, samples, { 'node -e 0': GOAL })
}
