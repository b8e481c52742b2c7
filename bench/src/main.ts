import { benchBuilds } from './benches/builds.ts'
import { benchBurst } from './benches/burst.ts'
import { benchChurn } from './benches/churn.ts'
import { benchCodeInterpreter } from './benches/code-interpreter.ts'
import { benchCreate } from './benches/create.ts'
import { benchDensity } from './benches/density.ts'
import { benchDownloads } from './benches/downloads.ts'
import { benchEgress } from './benches/egress.ts'
import { benchExec } from './benches/exec.ts'
import { benchFlood } from './benches/flood.ts'
import { benchLifecycle } from './benches/lifecycle.ts'
import { benchMemory } from './benches/memory.ts'
import { benchOverhead } from './benches/overhead.ts'
import { benchSmallCalls } from './benches/small-calls.ts'
import { benchTransfer } from './benches/transfer.ts'
import { benchWarm } from './benches/warm.ts'
import { benchWorstInput } from './benches/worst-input.ts'
import { describeMachine, formatMachine } from './machine.ts'
import { formatRow, toRow, type Comparison } from './report.ts'
import { readResults, toResults, writeResults, type Measured } from './results-file.ts'
import { readRunOptions } from './run-options.ts'
import { readSettings, type Settings } from './settings.ts'

const BENCHES: Readonly<Record<string, (settings: Settings) => Promise<Comparison[]>>> = {
  create: benchCreate,
  lifecycle: benchLifecycle,
  egress: benchEgress,
  flood: benchFlood,
  exec: benchExec,
  transfer: benchTransfer,
  memory: benchMemory,
  overhead: benchOverhead,
  builds: benchBuilds,
  'worst-input': benchWorstInput,
  warm: benchWarm,
  burst: benchBurst,
  'small-calls': benchSmallCalls,
  downloads: benchDownloads,
  density: benchDensity,
  churn: benchChurn,
  'code-interpreter': benchCodeInterpreter,
}

/** Runs the named benchmarks, or all, one after another. */
async function main(): Promise<void> {
  const { names, from, reference, count, ...outputs } = await readRunOptions('bench', Object.keys(BENCHES))
  if (from !== undefined) return await writeResults(outputs, await readResults(from))
  const settings = readSettings(process.env, { reference, count })
  const machine = describeMachine()
  console.log(`${formatMachine(machine)}\n`)
  const measured: Measured[] = []
  for (const name of names) {
    for (const comparison of (await BENCHES[name]?.(settings)) ?? []) {
      measured.push({ ...comparison, bench: name })
      console.log(`${formatRow(toRow(comparison))}\n`)
    }
    // After each benchmark, so that a failure of a later one loses nothing.
    await writeResults(outputs, toResults(machine, measured))
  }
}

await main().catch((err: unknown) => {
  console.error(`sandyard: ${err instanceof Error ? err.message : String(err)}`)
  process.exitCode = 1
})
