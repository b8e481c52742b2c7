import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { run } from '../../apps/daemon/test/support/collect.ts'
import { describeFigures, type Figures, measure } from '../../apps/daemon/test/support/daemon-figures.ts'
import { startDaemonProcess } from '../../apps/daemon/test/support/daemon-process.ts'
import { connectTo } from '../../apps/daemon/test/support/process-client.ts'

const ROUNDS = 10
const MAX_COUNT = 1_000_000
/** Ends of processes are kept for 30 seconds, and memory goes back to the kernel a moment after the last answer. */
const REST_MS = 33_000
const MAX_GROWTH = { descriptors: 4, mib: 8 }

/**
 * Runs short processes one after another in a daemon of its own: `npm run long:processes [-- count]`, 10,000 unless told. Exits with 1 where
 * one does not run as it should, or the daemon's descriptors, children or private memory grow in the second half: before, code is still being
 * compiled.
 */
async function main(count: number): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), 'sandyard-processes-'))
  try {
    await using daemon = await startDaemonProcess(directory)
    const caller = connectTo(daemon.url)
    let settled: Figures | undefined
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (let index = 0; index < count / ROUNDS; index += 1) await runOne(caller, index)
      console.log(`${round}/${ROUNDS}: ${describeFigures(measure(daemon.pid))}`)
      if (round === ROUNDS / 2) settled = await measureAtRest(daemon.pid)
    }
    const end = await measureAtRest(daemon.pid)
    console.log(`at rest: ${describeFigures(end)}; after half of them: ${settled === undefined ? '' : describeFigures(settled)}`)
    return settled !== undefined && !hasGrown(settled, end)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Pipes and terminals, with an end of each kind. */
async function runOne(caller: ReturnType<typeof connectTo>, index: number): Promise<void> {
  const request = { tag: `run ${index % 10}`, ...(index % 4 === 0 ? { pty: { size: { cols: 80, rows: 24 } } } : {}) }
  const script = index % 3 === 0 ? 'echo out; kill -TERM $$' : 'echo out; exit 3'
  const { end, stdout, pty } = await run(caller, ['/bin/sh', '-c', script], { request })
  const status = index % 3 === 0 ? 'signal: terminated' : 'exit status 3'
  if (end?.status !== status || `${stdout}${pty}`.trim() !== 'out') throw new Error(`run ${index}: ${JSON.stringify({ end, stdout, pty })}`)
}

async function measureAtRest(pid: number): Promise<Figures> {
  await delay(REST_MS)
  return measure(pid)
}

function hasGrown(before: Figures, after: Figures): boolean {
  return (
    after.descriptors > before.descriptors + MAX_GROWTH.descriptors ||
    after.mib > before.mib + MAX_GROWTH.mib ||
    after.children + after.zombies > 0
  )
}

process.exitCode = (await main(Math.min(Number(process.argv[2] ?? 10_000), MAX_COUNT))) ? 0 : 1
