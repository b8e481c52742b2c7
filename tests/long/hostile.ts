import { parseArgs } from 'node:util'
import { startTestServer } from '../../tools/gate/test-server.ts'
import { ATTACKS } from './attacks/all-attacks.ts'
import type { Attack } from './attacks/attack.ts'
import { openHostileSandbox, type Server } from './attacks/hostile-sandbox.ts'
import { daemonRequests } from './drill/daemon-requests.ts'
import { drill, type Baseline } from './drill/drill.ts'
import { renderTable, type Row } from './drill/rows.ts'

const MAX_COUNT = 1_000_000

/**
 * Starts a server, attacks it and removes it: `npm run long:hostile [-- --only <part of a name>] [count seed]`. `count`
 * and `seed` belong to the requests to a bare daemon; defaults 20,000 and 1. Prints for each attack its requests, its cost for the processes of the
 * server, and its effects on a neighbour. Exits with 1 if a request of the neighbour failed or was too slow, a process ended, memory was
 * not released, or an attack got a wrong answer.
 */
async function main(args: readonly string[]): Promise<boolean> {
  const { values, positionals } = parseArgs({ args: [...args], options: { only: { type: 'string' } }, allowPositionals: true })
  const [count = 20_000, seed = 1] = positionals.map(Number)
  const all = [...ATTACKS, daemonRequests(Math.min(count, MAX_COUNT), seed)]
  const attacks = all.filter(({ name }) => name.includes(values.only ?? ''))
  if (attacks.length === 0)
    throw new Error(`no attack has this in its name; the attacks are ${all.map(({ name }) => `"${name}"`).join(', ')}`)
  await using running = await startTestServer()
  const { E2B_API_URL = '', E2B_SANDBOX_URL = '', E2B_API_KEY = '', E2B_ACCESS_TOKEN } = running.environment
  const server: Server = {
    apiUrl: E2B_API_URL,
    proxyUrl: E2B_SANDBOX_URL,
    apiKey: E2B_API_KEY,
    ...(E2B_ACCESS_TOKEN !== undefined && { accessToken: E2B_ACCESS_TOKEN }),
  }
  await using neighbour = await openHostileSandbox(server)
  const { rows, faults } = await makeAll(attacks, (attack, baseline) => drill(attack, server, neighbour.target, baseline))
  console.log(`\n${renderTable(rows)}\n`)
  for (const fault of faults) console.error(fault)
  return faults.length === 0
}

/** Runs the attacks one after another. An attack that cannot be run, because the server has ended, ends the drill. */
async function makeAll(
  attacks: readonly Attack[],
  make: (attack: Attack, baseline: Baseline) => Promise<Row>,
): Promise<{ rows: Row[]; faults: string[] }> {
  const rows: Row[] = []
  const faults: string[] = []
  const baseline: Baseline = new Map()
  for (const attack of attacks) {
    try {
      const row = await make(attack, baseline)
      rows.push(row)
      faults.push(...row.faults.map((fault) => `${attack.name}: ${fault}`))
      console.log(
        `${rows.length}/${attacks.length} ${attack.name}, ${row.seconds.toFixed(1)} s, ${row.faults.length} faults: ${row.observed}`,
      )
    } catch (error) {
      faults.push(`${attack.name}: the drill cannot go on: ${String(error)}`)
      break
    }
  }
  return { rows, faults }
}

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1
