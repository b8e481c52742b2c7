import { Sandbox } from 'e2b'
import { createAndStart, findSandboxContainer, removeContainer } from '../engine.ts'
import type { Comparison } from '../report.ts'
import { interleave, timeMs } from '../samples.ts'
import { withSandbox } from '../with-sandbox.ts'

/** The answer to a kill, behind which the removal goes on, compared with the engine's removal of a running container. */
export async function benchKills(): Promise<Comparison[]> {
  const image = await withSandbox(async ({ sandboxId }) => (await findSandboxContainer(sandboxId)).Image)
  const samples = await interleave(
    { times: 20, warmUps: 2 },
    {
      ours: async () => {
        const { sandboxId } = await Sandbox.create({ timeoutMs: 60_000 })
        const { Id } = await findSandboxContainer(sandboxId)
        try {
          return await timeMs(() => Sandbox.kill(sandboxId))
        } finally {
          // Also waits for the removal, so that it is no load on the next repetition.
          await removeContainer(Id)
        }
      },
      engine: async () => {
        const id = await createAndStart(image)
        return await timeMs(() => removeContainer(id))
      },
    },
  )
  const against = { name: 'bare engine', samples: samples.engine }
  return [{ what: 'kill, to its answer', unit: 'ms', ours: samples.ours, against, goal: { of: 'ours', at: ['p50', 'p95'], atMost: 30 } }]
}
