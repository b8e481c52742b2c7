import { Sandbox } from 'e2b'
import { createAndStart, findSandboxContainer, removeContainer } from '../engine.ts'
import type { Comparison } from '../report.ts'
import { interleave, timeMs } from '../samples.ts'
import { withSandbox } from '../with-sandbox.ts'

/** A create through the API, network rules included, compared with the engine's own create and start of the same image. */
export async function benchCreate(): Promise<Comparison[]> {
  const image = await withSandbox(async ({ sandboxId }) => (await findSandboxContainer(sandboxId)).Image)
  const toFirstCommand: number[] = []
  const samples = await interleave(
    { times: 15, warmUps: 2 },
    {
      ours: async () => {
        const start = performance.now()
        const sandbox = await Sandbox.create({ timeoutMs: 60_000 })
        const created = performance.now() - start
        try {
          await sandbox.commands.run('true')
          toFirstCommand.push(performance.now() - start)
        } finally {
          await sandbox.kill()
        }
        return created
      },
      engine: async () => {
        let id: string | undefined
        try {
          return await timeMs(async () => (id = await createAndStart(image)))
        } finally {
          if (id !== undefined) await removeContainer(id)
        }
      },
    },
  )
  const against = { name: 'bare engine', samples: samples.engine }
  return [
    {
      what: 'create, cold, through the API',
      unit: 'ms',
      ours: samples.ours,
      against,
      goal: { of: 'ratio', at: ['p50', 'p95'], atMost: 2 },
    },
    { what: 'create, cold, to the end of a first `true`', unit: 'ms', ours: toFirstCommand.slice(-samples.ours.length), against },
  ]
}
