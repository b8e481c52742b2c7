import { Sandbox } from 'e2b'
import { commitContainer, createAndStart, findSandboxContainer, removeContainer, removeImage } from '../engine.ts'
import type { Comparison } from '../report.ts'
import { interleave } from '../samples.ts'
import { withSandbox } from '../with-sandbox.ts'

const FORKS = 5

/** A snapshot, and a fork of five, compared with the engine's commit, and its commit with five creates and starts at once. */
export async function benchSnapshots(): Promise<Comparison[]> {
  return withSandbox(async (sandbox) => {
    const container = await createAndStart((await findSandboxContainer(sandbox.sandboxId)).Image)
    try {
      const snapshots = await interleave(
        { times: 15, warmUps: 2 },
        { ours: () => timeSnapshot(sandbox), engine: () => timeCommit(container) },
      )
      const forks = await interleave({ times: 5, warmUps: 1 }, { ours: () => timeForks(sandbox), engine: () => timeStarts(container) })
      return [
        { what: 'snapshot', unit: 'ms', ours: snapshots.ours, against: { name: 'bare engine', samples: snapshots.engine } },
        { what: `fork of ${FORKS}`, unit: 'ms', ours: forks.ours, against: { name: 'bare engine', samples: forks.engine } },
      ]
    } finally {
      await removeContainer(container)
    }
  })
}

async function timeSnapshot(sandbox: Sandbox): Promise<number> {
  const start = performance.now()
  const { snapshotId } = await sandbox.createSnapshot()
  const ms = performance.now() - start
  await Sandbox.deleteSnapshot(snapshotId)
  return ms
}

async function timeCommit(container: string): Promise<number> {
  const start = performance.now()
  const image = await commitContainer(container)
  const ms = performance.now() - start
  await removeImage(image)
  return ms
}

async function timeForks(sandbox: Sandbox): Promise<number> {
  const start = performance.now()
  const forks = await sandbox.fork({ count: FORKS, timeoutMs: 60_000 })
  const ms = performance.now() - start
  const containers = await Promise.all(
    forks.map(async (fork) => {
      if (fork instanceof Error) throw fork
      const { Id } = await findSandboxContainer(fork.sandboxId)
      await fork.kill()
      return Id
    }),
  )
  // Waits for the removals, so that they are no load on the next repetition.
  await Promise.all(containers.map(removeContainer))
  return ms
}

async function timeStarts(container: string): Promise<number> {
  const start = performance.now()
  const image = await commitContainer(container)
  const started = await Promise.allSettled(Array.from({ length: FORKS }, () => createAndStart(image)))
  const ms = performance.now() - start
  await Promise.all(started.flatMap((result) => (result.status === 'fulfilled' ? [removeContainer(result.value)] : [])))
  await removeImage(image)
  const failed = started.find((result) => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return ms
}
