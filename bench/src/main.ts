import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { benchBuilds } from './benches/builds.ts'
import { benchCreate } from './benches/create.ts'
import { benchEgress } from './benches/egress.ts'
import { benchExec } from './benches/exec.ts'
import { benchFlood } from './benches/flood.ts'
import { benchLifecycle } from './benches/lifecycle.ts'
import { benchMemory } from './benches/memory.ts'
import { benchOverhead } from './benches/overhead.ts'
import { benchTransfer } from './benches/transfer.ts'
import { benchWorstInput } from './benches/worst-input.ts'
import { describeMachine, formatMachine } from './machine.ts'
import { formatRow, toRow, type Comparison, type Row } from './report.ts'
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
}

const USAGE = `usage: npm run bench -- [--json FILE] [--reference BINARY] [${Object.keys(BENCHES).join('|')}] ...`

/** Runs the named benchmarks, or all, one after another. */
async function main(): Promise<void> {
  // npm removes the `--`, a direct call of tools/run does not.
  const args = process.argv.slice(2).filter((arg, index) => index > 0 || arg !== '--')
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { json: { type: 'string' }, reference: { type: 'string' } },
  })
  const unknown = positionals.find((name) => !(name in BENCHES))
  if (unknown !== undefined) throw new Error(`there is no benchmark "${unknown}".\n${USAGE}`)
  const settings = readSettings(process.env, values.reference)
  const machine = describeMachine()
  console.log(`${formatMachine(machine)}\n`)
  const rows: Row[] = []
  for (const name of positionals.length > 0 ? positionals : Object.keys(BENCHES)) {
    for (const comparison of (await BENCHES[name]?.(settings)) ?? []) {
      const row = toRow(comparison)
      rows.push(row)
      console.log(`${formatRow(row)}\n`)
    }
  }
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify({ machine, rows }, undefined, 1)}\n`)
}

await main().catch((err: unknown) => {
  console.error(`sandyard: ${err instanceof Error ? err.message : String(err)}`)
  process.exitCode = 1
})
