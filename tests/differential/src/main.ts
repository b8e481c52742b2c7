/** Sends the same requests to this daemon and to the reference daemon, and reports differences. See README.md. */
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureDaemonDist } from '../../../apps/daemon/build/dist.ts'
import { generateScenarios } from './generators/all.ts'
import { Report } from './report.ts'
import { runScenarios } from './run.ts'
import type { ContainerSpec } from './twins/container.ts'
import { Twin } from './twins/twin.ts'

const PROGRESS_EVERY = 500
const USAGE = `usage: npm run differential -- --reference FILE [--seed N] [--count N] [--only AREA] [--image IMAGE] [--distribution DIR] [--json FILE]`

function readFlags() {
  const { values } = parseArgs({
    args: process.argv.slice(2).filter((argument, index) => index > 0 || argument !== '--'),
    options: {
      reference: { type: 'string', default: process.env['SANDYARD_REFERENCE_DAEMON'] ?? '' },
      seed: { type: 'string', default: '1' },
      count: { type: 'string', default: '2000' },
      only: { type: 'string', default: '' },
      image: { type: 'string', default: 'debian:bookworm-slim' },
      distribution: { type: 'string' },
      json: { type: 'string' },
    },
  })
  if (values.reference === '') throw new Error(`the path of the reference daemon's binary is missing.\n${USAGE}`)
  return { ...values, seed: Number(values.seed), count: Number(values.count) }
}

async function specs(flags: ReturnType<typeof readFlags>): Promise<{ ours: ContainerSpec; reference: ContainerSpec }> {
  const dir = flags.distribution ?? (await ensureDaemonDist()).dir
  const { mount, command } = JSON.parse(await readFile(join(dir, 'dist.json'), 'utf8')) as { mount: string; command: string[] }
  const node = command.slice(0, command.findIndex((argument) => argument.endsWith('/node')) + 1)
  const shared = { mounts: { [dirname(flags.reference)]: '/reference' }, image: flags.image, distribution: { dir, mount, node } }
  return {
    ours: { ...shared, label: 'ours', daemon: command },
    reference: {
      ...shared,
      label: 'reference',
      daemon: ['/reference/envd', '-isnotfc'],
      mounts: { [dirname(flags.reference)]: '/reference' },
    },
  }
}

async function main(): Promise<void> {
  const flags = readFlags()
  const { ours: ourSpec, reference: referenceSpec } = await specs(flags)
  await using ours = await Twin.start(ourSpec)
  await using reference = await Twin.start(referenceSpec)
  const interrupted = new AbortController()
  process.once('SIGINT', () => interrupted.abort())

  const report = new Report()
  const scenarios = generateScenarios(flags)
  for await (const comparison of runScenarios(scenarios, { ours, reference })) {
    report.add(comparison)
    if (report.size % PROGRESS_EVERY === 0) console.error(`${report.size} compared, at ${comparison.area}`)
    if (interrupted.signal.aborted) break
  }
  if (flags.json !== undefined) await writeFile(flags.json, `${JSON.stringify(report.unexplained, undefined, 1)}\n`)
  console.log(report.summary())
  if (report.unexplained.length > 0 || interrupted.signal.aborted) process.exitCode = 1
}

await main().catch((error: unknown) => {
  console.error(`differential: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
})
