import { Sandbox } from 'e2b'
import { createAndStart, findSandboxContainer, removeContainer } from '../engine.ts'
import type { Comparison } from '../report.ts'
import { interleave, timeMs } from '../samples.ts'
import { withSandbox } from '../with-sandbox.ts'

/** As many as an agent starts for a fan-out. */
const AT_ONCE = 10

/** Creates through the API, network rules included, compared with the engine's own creates and starts of the same image. */
export async function benchCreate(): Promise<Comparison[]> {
  const image = await withSandbox(async ({ sandboxId }) => (await findSandboxContainer(sandboxId)).Image)
  return [...(await benchOne(image)), await benchMany(image)]
}

/** Until the last of them is there. */
async function benchMany(image: string): Promise<Comparison> {
  const samples = await interleave(
    { times: 5, warmUps: 1 },
    {
      ours: () =>
        timeAll(
          () => Sandbox.create({ timeoutMs: 60_000 }),
          (sandbox) => sandbox.kill(),
        ),
      engine: () => timeAll(() => createAndStart(image), removeContainer),
    },
  )
  return {
    what: `${AT_ONCE} creates at once, cold, through the API`,
    unit: 'ms',
    ours: samples.ours,
    against: { name: 'bare engine', samples: samples.engine },
    goal: { of: 'ratio', at: ['p50'], atMost: 1.7 },
  }
}

/** Starts `AT_ONCE` at once and removes them afterwards, also when some have failed. */
async function timeAll<T>(start: () => Promise<T>, remove: (started: T) => Promise<unknown>): Promise<number> {
  const began = performance.now()
  const outcomes = await Promise.allSettled(Array.from({ length: AT_ONCE }, start))
  const ms = performance.now() - began
  const started = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  await Promise.all(started.map(remove))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  return ms
}

async function benchOne(image: string): Promise<Comparison[]> {
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
      goal: { of: 'ratio', at: ['p50'], atMost: 1.55 },
    },
    { what: 'create, cold, to the end of a first `true`', unit: 'ms', ours: toFirstCommand.slice(-samples.ours.length), against },
  ]
}
