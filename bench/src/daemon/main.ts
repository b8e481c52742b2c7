import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { ensureDaemonDist } from '../../../apps/daemon/build/dist.ts'
import { describeMachine, formatMachine } from '../machine.ts'
import { NotMeasured } from './bench.ts'
import { findImage, removeLeftovers, type Programs } from './containers.ts'
import { startDaemons } from './daemons.ts'
import { readOptions, type Options } from './options.ts'
import { formatTable, ResultCollector } from './results.ts'
import { ROWS } from './rows.ts'
import { startBareServer } from './start-bare-server.ts'

/** Runs the named rows, or all, `rounds` times, each time with new containers. */
async function main(): Promise<void> {
  const options = await readOptions(process.argv.slice(2), Object.keys(ROWS))
  await removeLeftovers({ own: false })
  const dist = options.dist ?? (await ensureDaemonDist()).dir
  const programs: Programs = { image: await findImage(), dist, reference: options.reference }
  const machine = describeMachine()
  console.log(
    `${formatMachine(machine)}\ndaemon ${basename(dist)} in ${programs.image}, compared with ${options.reference ?? 'public tools only'}\n`,
  )
  const collector = new ResultCollector()
  for (let round = 1; round <= options.rounds; round++) await runRound(programs, options, { round, collector })
  const results = collector.results()
  console.log(`\n${formatTable(results)}`)
  if (options.json !== undefined)
    await writeFile(options.json, `${JSON.stringify({ machine, daemon: basename(dist), ...results }, undefined, 1)}\n`)
}

interface Progress {
  readonly round: number
  readonly collector: ResultCollector
}

async function runRound(programs: Programs, { rows, rounds }: Options, { round, collector }: Progress): Promise<void> {
  await using daemons = await startDaemons(programs)
  await using bare = await startBareServer(programs)
  for (const name of rows) {
    const start = performance.now()
    try {
      for (const comparison of (await ROWS[name]?.({ programs, daemons, bare })) ?? []) collector.add(comparison)
      console.log(`round ${round} of ${rounds}: ${name}, ${Math.round((performance.now() - start) / 1000)} s`)
    } catch (error) {
      // A failed row does not stop the others.
      const reason = error instanceof Error ? error.message : String(error)
      console.log(`round ${round} of ${rounds}: ${name} was not measured: ${reason}`)
      collector.addMissing(name, reason)
      if (!(error instanceof NotMeasured)) process.exitCode = 1
    }
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void removeLeftovers({ own: true }).finally(() => process.exit(signal === 'SIGINT' ? 130 : 143))
  })
}

await main().catch((err: unknown) => {
  console.error(`sandyard: ${err instanceof Error ? err.message : String(err)}`)
  process.exitCode = 1
})
