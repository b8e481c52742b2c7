import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startDaemonProcess } from '../../../apps/daemon/test/support/daemon-process.ts'
import { hostileRequests } from '../../../apps/daemon/test/support/hostile-requests.ts'
import { sendAll } from '../../../apps/daemon/test/support/send-hostile.ts'
import type { Attack, AttackResult } from '../attacks/attack.ts'

const ROUNDS = 10
const CONCURRENCY = 32
/** After this time no more rounds start, so a loaded machine sends fewer requests. */
const DEADLINE_MS = 45_000
/** The daemon returns free memory to the kernel shortly after the last answer. */
const REST_MS = 3000
const MAX_GROWTH = { descriptors: 10, mib: 32 }
const SHOWN_FAULTS = 20

interface Measured {
  readonly descriptors: number
  readonly mib: number
}

/**
 * Malformed requests to a new daemon. A fault is an answer other than a client error, and growth of the daemon's descriptors or private
 * memory in the second half of the run (in the first half V8 still compiles code).
 */
export function daemonRequests(count: number, seed: number): Attack {
  return {
    name: 'malformed requests, bare daemon',
    async run(_target, signal) {
      const directory = await mkdtemp(join(tmpdir(), 'sandyard-hostile-'))
      try {
        return await sendRounds(directory, { count, seed }, signal)
      } finally {
        await rm(directory, { recursive: true, force: true })
      }
    },
  }
}

async function sendRounds(
  directory: string,
  { count, seed }: { readonly count: number; readonly seed: number },
  signal: AbortSignal,
): Promise<AttackResult> {
  await using daemon = await startDaemonProcess(directory)
  // A request whose path is lost uses this directory.
  await fetch(`${daemon.url}/init`, { method: 'POST', body: JSON.stringify({ defaultWorkdir: directory }), signal })
  const each = Math.ceil(count / ROUNDS)
  const rests: Measured[] = []
  const faults: string[] = []
  const deadline = performance.now() + DEADLINE_MS
  let sent = 0
  for (let round = 0; round < ROUNDS && performance.now() < deadline; round++) {
    faults.push(...(await sendAll(daemon.url, hostileRequests(directory, each, seed + round), CONCURRENCY)))
    sent += each
    if (round + 1 === ROUNDS / 2) rests.push(await measureAtRest(daemon.pid, signal))
  }
  const end = await measureAtRest(daemon.pid, signal)
  const [half] = rests
  if (half !== undefined && (end.descriptors > half.descriptors + MAX_GROWTH.descriptors || end.mib > half.mib + MAX_GROWTH.mib)) {
    faults.push(`descriptors or memory grew: ${describe(half)} after half, ${describe(end)} at the end`)
  }
  return {
    sent: `${sent} of ${count} requests, seed ${seed}, ${CONCURRENCY} at a time`,
    observed: `${faults.length} faults; idle ${half === undefined ? '' : `${describe(half)} after half, `}${describe(end)} at the end`,
    faults: faults.slice(0, SHOWN_FAULTS),
  }
}

async function measureAtRest(pid: number, signal: AbortSignal): Promise<Measured> {
  await delay(REST_MS, undefined, { signal })
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const kib = [...rollup.matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB$/gm)].reduce((sum, match) => sum + Number(match[1]), 0)
  return { descriptors: readdirSync(`/proc/${pid}/fd`).length, mib: kib / 1024 }
}

function describe({ descriptors, mib }: Measured): string {
  return `${descriptors} descriptors and ${mib.toFixed(1)} MiB`
}
