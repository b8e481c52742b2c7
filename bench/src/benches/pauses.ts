import { Sandbox } from 'e2b'
import { createAndStart, findSandboxContainer, pauseContainer, removeContainer, unpauseContainer } from '../engine.ts'
import type { Comparison } from '../report.ts'
import { differences, interleave, timeMs, type Samples } from '../samples.ts'
import { withSandbox } from '../with-sandbox.ts'

const TIMES = 40

/** A pause that keeps memory, and a connect until a first command has ended, compared with the engine's pause and unpause. */
export async function benchPauses(): Promise<Comparison[]> {
  return withSandbox(async ({ sandboxId }) => {
    const container = await createAndStart((await findSandboxContainer(sandboxId)).Image)
    try {
      return await measure(sandboxId, container)
    } finally {
      await removeContainer(container)
    }
  })
}

async function measure(sandboxId: string, container: string): Promise<Comparison[]> {
  const connects: number[] = []
  const firstCommands: number[] = []
  const unpauses: number[] = []
  const pauses = await interleave(
    { times: TIMES, warmUps: 5 },
    {
      ours: async () => {
        const paused = await timeMs(() => Sandbox.pause(sandboxId))
        const start = performance.now()
        const sandbox = await Sandbox.connect(sandboxId, { timeoutMs: 600_000 })
        connects.push(performance.now() - start)
        await sandbox.commands.run('true')
        firstCommands.push(performance.now() - start)
        return paused
      },
      engine: async () => {
        const paused = await timeMs(() => pauseContainer(container))
        unpauses.push(await timeMs(() => unpauseContainer(container)))
        return paused
      },
    },
  )
  const unpaused = unpauses.slice(-TIMES)
  return [
    ...compare('pause', { ours: pauses.ours, engine: pauses.engine }, 25),
    ...compare('connect to a paused sandbox', { ours: connects.slice(-TIMES), engine: unpaused }),
    ...compare('connect, to the end of a first `true`', { ours: firstCommands.slice(-TIMES), engine: unpaused }, 35),
  ]
}

function compare(what: string, { ours, engine }: Readonly<Record<'ours' | 'engine', Samples>>, mostAddedMs?: number): Comparison[] {
  const against = { name: 'bare engine', samples: engine }
  const added = { what: `what the server adds to ${what}`, unit: 'ms', ours: differences(ours, engine) } as const
  return [
    { what, unit: 'ms', ours, against },
    mostAddedMs === undefined ? added : { ...added, goal: { of: 'ours', at: ['p50'], atMost: mostAddedMs } },
  ]
}
