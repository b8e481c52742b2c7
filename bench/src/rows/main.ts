import { formatTable } from '../daemon/results.ts'
import { describeMachine, formatMachine } from '../machine.ts'
import { toRow } from '../report.ts'
import { readResults, toResults, writeResults, type Measured } from '../results-file.ts'
import { readRunOptions } from '../run-options.ts'
import { measureCost, type Cost } from './cpu-meter.ts'
import { openRowWorld, startDaemons, type RowWorld } from './row-world.ts'
import { WORKS, type Work } from './works.ts'

const SIZES = [100, 1000, 10_000] as const
const TIMES = 5
const AT_LEAST = 2000

async function main(): Promise<void> {
  const { names, from, ...outputs } = await readRunOptions('bench:rows', Object.keys(WORKS))
  if (from !== undefined) return await writeResults(outputs, await readResults(from))
  const machine = describeMachine()
  console.log(`${formatMachine(machine)}\n`)
  using daemons = await startDaemons()
  await using opened = new AsyncDisposableStack()
  const worlds: RowWorld[] = []
  for (const rows of SIZES) worlds.push(opened.use(await openRowWorld(rows, daemons.port)))
  const measured: Measured[] = []
  for (const name of names) {
    const work = WORKS[name]
    if (work === undefined) continue
    const made = toComparisons(work, await measure(work, worlds)).map((comparison) => ({ ...comparison, bench: name }))
    console.log(`${formatTable({ rows: made.map(toRow), missing: {} })}\n`)
    measured.push(...made)
    // After each, so that a failure of a later one loses nothing.
    await writeResults(outputs, toResults(machine, measured))
    for (const world of worlds) await world.refill()
  }
}

/** The costs for each unit of the work, by world, the worlds in turn. */
async function measure(work: Work, worlds: readonly RowWorld[]): Promise<Cost[][]> {
  const costs = worlds.map((): Cost[] => [])
  for (let round = -1; round < TIMES; round++) {
    for (const [index, world] of worlds.entries()) {
      const repeats = Math.max(1, Math.round((work.atLeast ?? AT_LEAST) / world.rows))
      let [units, wallMs, cpuMs] = [0, 0, 0]
      for (let turn = 0; turn < repeats; turn++) {
        await work.prepare?.(world)
        const cost = await measureCost(world.world.database.db, async () => (units += await work.run(world)))
        wallMs += cost.wallMs
        cpuMs += cost.cpuMs
      }
      const divisor = work.per === 'pass' ? repeats : units
      if (divisor === 0) throw new Error(`no row was handled: ${work.what}`)
      if (round >= 0) costs[index]?.push({ wallMs: wallMs / divisor, cpuMs: cpuMs / divisor })
    }
  }
  return costs
}

/** Each larger world with the smallest one. Only the CPU time has a goal: the elapsed time depends on the load of the machine too. */
function toComparisons({ what, per }: Work, [least = [], ...others]: readonly Cost[][]): Measured[] {
  return others.flatMap((costs, index) => {
    const compare = (kind: string, key: keyof Cost): Measured => ({
      what: `${what}: ${kind} for each ${per}, ${SIZES[index + 1]} rows`,
      unit: 'us',
      ours: costs.map((cost) => cost[key] * 1000),
      against: { name: `${SIZES[0]} rows`, samples: least.map((cost) => cost[key] * 1000) },
    })
    return [{ ...compare('CPU', 'cpuMs'), goal: { of: 'ratio', at: ['p50'], atMost: 2 } }, compare('time', 'wallMs')]
  })
}

await main().catch((err: unknown) => {
  console.error(`sandyard: ${err instanceof Error ? err.message : String(err)}`)
  process.exitCode = 1
})
