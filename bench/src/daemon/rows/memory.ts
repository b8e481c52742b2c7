import { setTimeout as delay } from 'node:timers/promises'
import { download, upload } from '../../http-call.ts'
import { privateMib } from '../../private-memory.ts'
import type { Comparison } from '../../report.ts'
import type { Bench } from '../bench.ts'
import { toComparisons, withOwnGoal } from '../compare.ts'
import { startDaemon, type Daemon, type DaemonName } from '../daemons.ts'

/** Several at once, because the pages of a daemon's files count as private when only one runs. */
const CONTAINERS = 3
const SETTLE_MS = 5000
const MIB = 64
/** design.md 5. */
const GOAL = { of: 'ours', at: ['p50', 'p95'], atMost: 30 } as const

/** Private memory of all processes in a container: fresh, and some seconds after work of each kind. */
export async function benchMemory({ programs, daemons }: Bench): Promise<Comparison[]> {
  await using started = new AsyncDisposableStack()
  const fresh: Record<string, number[]> = {}
  const used: Record<string, number[]> = {}
  const names: DaemonName[] = daemons.reference === undefined ? ['ours'] : ['ours', 'reference']
  for (const name of names) {
    const several: Daemon[] = []
    for (let count = 0; count < CONTAINERS; count++) several.push(started.use(await startDaemon(programs, name)))
    fresh[name] = await measure(several)
    for (const daemon of several) await use(daemon)
    used[name] = await measure(several)
  }
  const row = (what: string, samples: Record<string, number[]>): Comparison[] =>
    withOwnGoal(GOAL, toComparisons({ what, unit: 'MiB' }, samples, {}))
  return [...row('private memory, fresh', fresh), ...row('private memory, after work', used)]
}

async function measure(several: readonly Daemon[]): Promise<number[]> {
  await delay(SETTLE_MS)
  return await Promise.all(several.map(({ container }) => privateMib(container.id)))
}

async function use({ sandbox, origin }: Daemon): Promise<void> {
  const url = new URL('/files?path=/tmp/large&username=user', origin)
  await sandbox.commands.run('mkdir -p /tmp/many && cd /tmp/many && seq 1 1000 | xargs touch')
  for (let runs = 0; runs < 20; runs++) {
    await sandbox.commands.run('true')
    await sandbox.files.list('/tmp/many')
    await sandbox.files.write('/tmp/small', 'x'.repeat(1024))
    await sandbox.files.read('/tmp/small')
  }
  await upload({ url, mib: MIB })
  await download({ url, mib: MIB })
}
