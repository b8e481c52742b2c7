import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Goal } from '../../goal.ts'
import { UnexpectedStatusError, type Call } from '../../http-call.ts'
import type { Comparison } from '../../report.ts'
import { timeMs } from '../../samples.ts'
import { NotMeasured, type Bench } from '../bench.ts'
import { compare } from '../compare.ts'
import type { Daemon } from '../daemons.ts'

const DESTINATION = '/tmp/compose/whole'

interface Parts {
  readonly count: number
  readonly mib: number
}

/** Composes one file from parts, compared with the reference and with coreutils' `cat` of the same parts in the same container. */
export async function benchCompose({ daemons }: Bench): Promise<Comparison[]> {
  await expectServed(daemons.ours)
  const measure = (parts: Parts, times: number, goal?: Goal): Promise<Comparison[]> => {
    const what = `compose of ${parts.count} x ${parts.mib} MiB`
    const beside = [
      { name: 'cat', goal, work: () => timeShell(daemons.ours, parts, (paths) => `cat ${paths} > ${DESTINATION}`) },
      // Compose removes its sources too.
      { name: 'cat && rm', work: () => timeShell(daemons.ours, parts, (paths) => `cat ${paths} > ${DESTINATION} && rm ${paths}`) },
    ]
    return compare(daemons, { what, times, warmUps: 1, beside }, (daemon) => timeCompose(daemon, parts))
  }
  return [
    ...(await measure({ count: 4, mib: 64 }, 7)),
    // 0.9 of its throughput, as a time (design.md 5).
    ...(await measure({ count: 64, mib: 16 }, 5, { of: 'ratio', at: ['p50'], atMost: 1 / 0.9 })),
  ]
}

async function timeCompose(daemon: Daemon, parts: Parts): Promise<number> {
  await prepare(daemon, parts)
  const ms = await timeMs(() => daemon.send(composeCall(pathsOf(parts))))
  await clear(daemon)
  return ms
}

/** Timed by a shell in the container; the start of the shell is not included. */
async function timeShell(daemon: Daemon, parts: Parts, command: (paths: string) => string): Promise<number> {
  await prepare(daemon, parts)
  const script = `s=$EPOCHREALTIME; ${command(pathsOf(parts).join(' '))}; echo "$s $EPOCHREALTIME"`
  const { stdout } = await daemon.sandbox.commands.run(script)
  const [start = 0, end = 0] = stdout.replaceAll(',', '.').split(' ').map(Number)
  await clear(daemon)
  return (end - start) * 1000
}

/** Ensures that the parts are on the disk and no write is pending when the measurement starts. */
async function prepare({ sandbox }: Daemon, { count, mib }: Parts): Promise<void> {
  const write = `for i in $(seq ${count}); do head -c ${mib}M /dev/zero > /tmp/compose/$i; done`
  await sandbox.commands.run(`mkdir -p /tmp/compose && ${write} && sync -f /tmp/compose`, { timeoutMs: 120_000 })
}

async function clear({ container }: Daemon): Promise<void> {
  await rm(join(container.root, '/tmp/compose'), { recursive: true, force: true })
}

function pathsOf({ count }: Parts): string[] {
  return Array.from({ length: count }, (_, index) => `/tmp/compose/${index + 1}`)
}

function composeCall(paths: readonly string[]): Call {
  const body = Buffer.from(JSON.stringify({ source_paths: paths, destination: DESTINATION, username: 'user' }))
  return { method: 'POST', path: '/files/compose', headers: { 'content-type': 'application/json' }, body, status: 200 }
}

async function expectServed(daemon: Daemon): Promise<void> {
  await timeCompose(daemon, { count: 1, mib: 1 }).catch((error: unknown) => {
    if (error instanceof UnexpectedStatusError && error.status === 501) throw new NotMeasured('not served')
    throw error
  })
}
