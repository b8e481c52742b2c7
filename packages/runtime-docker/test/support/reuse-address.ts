/**
 * A program for namespaces of its own (`inOwnNamespaces`): kills an engine with a sandbox, starts it again, starts another sandbox, and has the former one leave the
 * network. Prints a line of JSON, `ReusedAddress`.
 */
import { stationOn } from '../../src/containers/container-state.ts'
import { openBareSandboxes } from './bare-sandboxes.ts'
import { EngineBench, sandboxSpec } from './engine-bench.ts'
import { startSecondEngine } from './second-engine.ts'

export interface ReusedAddress {
  /** What the engine shows of the ended sandbox. */
  readonly former: string | undefined
  readonly next: string | undefined
  /** The addresses that were told to be given up when the former one left, and when the next one did. */
  readonly leftByFormer: readonly string[]
  readonly leftByNext: readonly string[]
}

async function reuseAddress(): Promise<ReusedAddress> {
  await using bench = await EngineBench.open()
  await using engine = await startSecondEngine()
  const sandboxes = await openBareSandboxes(bench, engine.docker)
  const { network } = sandboxes.parts
  const left: string[] = []
  network.beforeLeave(async (address) => void left.push(address))
  const addressOf = async (name: string): Promise<string | undefined> =>
    stationOn((await network.ensure()).id, await engine.docker.getContainer(name).inspect())?.address
  const [former, next] = [sandboxSpec(), sandboxSpec()]
  await sandboxes.start(former)
  await engine.kill()
  await engine.restart()
  await sandboxes.start(next)
  const addresses = { former: await addressOf(sandboxes.nameOf(former)), next: await addressOf(sandboxes.nameOf(next)) }
  await network.disconnect(sandboxes.nameOf(former))
  const leftByFormer = left.splice(0)
  await network.disconnect(sandboxes.nameOf(next))
  return { ...addresses, leftByFormer, leftByNext: left }
}

process.stdout.write(`${JSON.stringify(await reuseAddress())}\n`)
