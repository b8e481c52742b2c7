import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startDaemonProcess } from '../../apps/daemon/test/support/daemon-process.ts'
import { hostileRequests } from '../../apps/daemon/test/support/hostile-requests.ts'
import { sendAll } from '../../apps/daemon/test/support/send-hostile.ts'

const ROUNDS = 10
const MAX_COUNT = 1_000_000
const CONCURRENCY = 32
/** What is free goes back to the kernel a moment after the last answer. */
const REST_MS = 3000
const MAX_GROWTH = { descriptors: 10, mib: 32 }

/**
 * Sends requests with something wrong to a daemon of its own: `npm run long:hostile [-- count seed]`, 20,000 unless told. Exits with 1 where
 * one has no answer that blames its client, or where the daemon's descriptors or private memory grow in the second half: before, code is still being compiled.
 */
async function main(count: number, seed: number): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), 'sandyard-hostile-'))
  try {
    await using daemon = await startDaemonProcess(directory)
    // A path that is lost on the way means this directory then.
    await fetch(`${daemon.url}/init`, { method: 'POST', body: JSON.stringify({ defaultWorkdir: directory }) })
    const faults: string[] = []
    let settled: ReturnType<typeof measure> | undefined
    for (let round = 0; round < ROUNDS; round++) {
      faults.push(...(await sendAll(daemon.url, hostileRequests(directory, Math.ceil(count / ROUNDS), seed + round), CONCURRENCY)))
      const now = measure(daemon.pid)
      console.log(`${round + 1}/${ROUNDS}: ${faults.length} faults, ${now.descriptors} descriptors, ${now.mib.toFixed(1)} MiB`)
      if (round + 1 === ROUNDS / 2) settled = await measureAtRest(daemon.pid)
    }
    for (const fault of faults.slice(0, 20)) console.error(fault)
    const { descriptors, mib } = await measureAtRest(daemon.pid)
    console.log(`at rest: ${descriptors} descriptors, ${mib.toFixed(1)} MiB, after half ${settled?.mib.toFixed(1) ?? ''} MiB`)
    const grew = settled === undefined || descriptors > settled.descriptors + MAX_GROWTH.descriptors || mib > settled.mib + MAX_GROWTH.mib
    if (grew) console.error('descriptors or memory grew')
    return faults.length === 0 && !grew
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function measureAtRest(pid: number): Promise<ReturnType<typeof measure>> {
  await delay(REST_MS)
  return measure(pid)
}

function measure(pid: number): { readonly descriptors: number; readonly mib: number } {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const kib = [...rollup.matchAll(/^Private_(?:Clean|Dirty): +(\d+) kB$/gm)].reduce((sum, match) => sum + Number(match[1]), 0)
  return { descriptors: readdirSync(`/proc/${pid}/fd`).length, mib: kib / 1024 }
}

process.exitCode = (await main(Math.min(Number(process.argv[2] ?? 20_000), MAX_COUNT), Number(process.argv[3] ?? 1))) ? 0 : 1
