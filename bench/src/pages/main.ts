import { createWorld, type Server } from '../../../apps/api/test/support/control-plane.ts'
import { formatTable } from '../daemon/results.ts'
import { describeMachine, formatMachine } from '../machine.ts'
import { toRow, type Comparison } from '../report.ts'
import { readResults, toResults, writeResults, type Measured } from '../results-file.ts'
import { readRunOptions } from '../run-options.ts'
import { timeMs } from '../samples.ts'
import { fillLists, TAGGED } from './fill-lists.ts'

const ROWS = 100_000
const PAGES = 60
const GOAL_MS = 30

/** Every paged list, by name. */
const LISTS: Readonly<Record<string, string>> = {
  sandboxes: '/v2/sandboxes?limit=100',
  templates: '/v2/templates?limit=100',
  snapshots: '/snapshots?limit=100',
  builds: `/templates/${TAGGED}?limit=100`,
}

async function main(): Promise<void> {
  const { names, from, ...outputs } = await readRunOptions('bench:pages', Object.keys(LISTS))
  if (from !== undefined) return await writeResults(outputs, await readResults(from))
  const machine = describeMachine()
  console.log(`${formatMachine(machine)}\n`)
  await using world = await createWorld()
  const api = await world.startServer({ env: { SANDYARD_MAX_SANDBOXES: '1000000' } })
  await fillLists(world, ROWS)
  const measured: Measured[] = []
  for (const name of names) {
    const made = await measure(api, name, LISTS[name] ?? '')
    console.log(`${formatTable({ rows: [toRow(made)], missing: {} })}\n`)
    measured.push({ ...made, bench: name })
    await writeResults(outputs, toResults(machine, measured))
  }
}

/** Pages from the first one on, each as a whole request without a network. */
async function measure(api: Server, name: string, path: string): Promise<Comparison> {
  const ours: number[] = []
  let token: string | undefined
  for (let page = -2; page < PAGES; page++) {
    const next = token === undefined ? '' : `&nextToken=${encodeURIComponent(token)}`
    const ms = await timeMs(async () => {
      const { status, headers, text } = await api.call('GET', path + next)
      if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`)
      token = headers['x-next-token'] as string | undefined
    })
    if (token === undefined) throw new Error(`${path} has too few pages`)
    // The first ones compile what they need.
    if (page >= 0) ours.push(ms)
  }
  return { what: `a page of 100 of ${ROWS} ${name}`, unit: 'ms', ours, goal: { of: 'ours', at: ['p50', 'p95'], atMost: GOAL_MS } }
}

await main().catch((err: unknown) => {
  console.error(`sandyard: ${err instanceof Error ? err.message : String(err)}`)
  process.exitCode = 1
})
