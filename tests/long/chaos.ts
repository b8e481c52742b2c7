import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DEFAULT_ADDRESS } from '../../packages/runtime-docker/src/engine/connect-engine.ts'
import { seededRandom } from '../../packages/test-kit/src/seeded-random.ts'
import { addCounts, NOTHING, oneFailed, onePassed, type Counts } from '../../tools/gate/counts.ts'
import { runChaos } from './chaos/run-chaos.ts'
import { parseSettings } from './chaos/settings.ts'
import { ChaosStack } from './chaos/stack/chaos-stack.ts'
import { EnginePart } from './chaos/stack/engine-part.ts'
import { ownEngineFolder, runInOwnNamespaces } from './chaos/stack/own-namespaces.ts'
import { renderTables } from './chaos/table.ts'
import { Tally } from './chaos/tally.ts'

/**
 * Crash drill on the real engine: two servers, two proxies, an egress gateway and a Postgres of their own, while clients with the published
 * SDK work and one part after another is killed: `npm run long:chaos [-- --operations 10000 --seconds N --seed N --clients 6 --kill-every 12]`.
 * Every answer is compared with what was acknowledged before, and at the end nothing may be lost, left behind or have been answered wrongly.
 * An interrupt ends the operations; the checks follow. `--slice` is the run of `npm test`. `--engine` runs the drill on a second engine in namespaces of its own, which is killed
 * too, and needs root. `--keep` leaves the folder with the logs.
 */
async function main(args: readonly string[]): Promise<boolean> {
  const settings = parseSettings(args)
  const engineFolder = ownEngineFolder()
  if (settings.engine && engineFolder === undefined) return (await runInOwnNamespaces()) === 0
  await using stack = new AsyncDisposableStack()
  console.error(`seed ${settings.seed}`)
  const tally = new Tally()
  const enginePart = engineFolder === undefined ? undefined : await startEngine(stack, engineFolder)
  const engine = enginePart?.address ?? process.env['DOCKER_HOST']
  const server = stack.use(await ChaosStack.start({ engine, enginePart, random: seededRandom(settings.seed), keep: settings.keep }))
  console.error(`   the servers run, with logs in ${server.folder}`)
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())
  const result = await runChaos(server, settings, { tally, signal: interrupted.signal })
  tally.orphaned.push(...(await server.stop()))
  console.log(`\n${renderTables(tally, result)}\n`)
  for (const fault of tally.faults()) console.log(fault)
  await report(tally)
  return tally.isClean
}

async function startEngine(stack: AsyncDisposableStack, folder: string): Promise<EnginePart> {
  const engine = stack.use(new EnginePart(folder))
  await engine.restart()
  await engine.copyImages(process.env['DOCKER_HOST'] ?? DEFAULT_ADDRESS)
  return engine
}

/** For the gate. */
async function report(tally: Tally): Promise<void> {
  const file = process.env['SANDYARD_TEST_REPORT']
  if (file === undefined) return
  const counts: Counts[] = [tally.isClean ? onePassed() : oneFailed(`chaos > ${tally.faults().join('; ')}`)]
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, JSON.stringify(addCounts([NOTHING, ...counts])))
}

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1
