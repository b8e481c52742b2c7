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
/** Rounds that would begin later are left out: a loaded machine sends fewer. */
const DEADLINE_MS = 45_000
/** What is free goes back to the kernel a moment after the last answer. */
const REST_MS = 3000
const MAX_GROWTH = { descriptors: 10, mib: 32 }
const SHOWN_FAULTS = 20

interface Measured {
  readonly descriptors: number
  readonly mib: number
}

/**
 * Requests with something wrong to a daemon of its own. A fault is an answer that does not blame its client, and descriptors or private
 * memory of the daemon that grow in the second half: before, code is still being compiled.
 */
export function daemonRequests(count: number, seed: number): Attack {
  return {
    name: 'requests with something wrong, bare daemon',
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
  // A path that is lost on the way means this directory then.
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
    observed: `${faults.length} faults; at rest ${half === undefined ? '' : `${describe(half)} after half, `}${describe(end)} at the end`,
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
