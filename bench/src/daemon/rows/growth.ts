import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { listProcesses } from '../../engine.ts'
import { download, upload } from '../../http-call.ts'
import { privateMibOf } from '../../private-memory.ts'
import type { Comparison } from '../../report.ts'
import type { Bench } from '../bench.ts'
import { toComparisons, withOwnGoal } from '../compare.ts'
import { startDaemon, type Daemon, type DaemonName } from '../daemons.ts'
import { logText } from '../log-text.ts'

const MIB = 1024
const EVERY_MS = 100
/** design.md 5. */
const GOAL = { of: 'ours', at: ['p95'], atMost: 32 } as const

/** The highest rise of a fresh daemon's private memory during a transfer of 1 GiB. */
export async function benchGrowth({ programs, daemons }: Bench): Promise<Comparison[]> {
  const names: DaemonName[] = daemons.reference === undefined ? ['ours'] : ['ours', 'reference']
  const up: Record<string, number[]> = {}
  const down: Record<string, number[]> = {}
  const zipped: Record<string, number[]> = {}
  for (const name of names) {
    await using daemon = await startDaemon(programs, name)
    const file = { url: new URL('/files?path=/tmp/large&username=user', daemon.origin), mib: MIB }
    up[name] = [await growth(daemon, () => upload(file))]
    down[name] = [await growth(daemon, () => download(file))]
    await writeText(daemon)
    zipped[name] = [await growth(daemon, () => download({ ...file, coding: 'gzip' }))]
  }
  const row = (what: string, samples: Record<string, number[]>): Comparison[] =>
    withOwnGoal(GOAL, toComparisons({ what, unit: 'MiB' }, samples, {}))
  return [
    ...row('growth through an upload of 1 GiB', up),
    ...row('growth through a download of 1 GiB', down),
    ...row('growth through a download of 1 GiB of text, gzip', zipped),
  ]
}

/** Replaces the uploaded file from outside of the container, because the page cache does not count as private memory of a process. */
async function writeText({ container }: Daemon): Promise<void> {
  const text = logText(64 * 1024 * 1024)
  const path = join(container.root, 'tmp/large')
  await writeFile(path, '')
  for (let written = 0; written < MIB; written += 64) await appendFile(path, text)
}

async function growth({ container }: Daemon, work: () => Promise<void>): Promise<number> {
  const processes = await listProcesses(container.id)
  const measure = async (): Promise<number> => {
    const sizes = await Promise.all(processes.map(({ pid }) => privateMibOf(pid)))
    return sizes.reduce((sum, mib) => sum + mib, 0)
  }
  const before = await measure()
  let highest = before
  const ended = new AbortController()
  const looking = (async () => {
    while (!ended.signal.aborted) {
      highest = Math.max(highest, await measure())
      await delay(EVERY_MS)
    }
  })()
  try {
    await work()
  } finally {
    ended.abort()
    await looking
  }
  return highest - before
}
