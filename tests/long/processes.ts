import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { run } from '../../apps/daemon/test/support/collect.ts'
import { describeFigures, type Figures, measure } from '../../apps/daemon/test/support/daemon-figures.ts'
import { startDaemonProcess } from '../../apps/daemon/test/support/daemon-process.ts'
import { compareEnvironments } from '../../apps/daemon/test/support/environment-check.ts'
import { connectTo } from '../../apps/daemon/test/support/process-client.ts'

const ROUNDS = 10
const MAX_COUNT = 1_000_000
/** The daemon stores the ends of processes for 30 seconds, and returns free memory to the kernel shortly after the last answer. */
const REST_MS = 33_000
const MAX_GROWTH = { descriptors: 4, mib: 8 }

/**
 * Runs short processes in a new daemon: `npm run long:processes [-- count]`, default 20,000. Each gets an environment of 5 KB, which is
 * compared byte by byte while the daemon collects garbage constantly. In addition half as many processes of other kinds run one after
 * another. Exits with 1 if a process has a wrong result, or if the daemon's descriptors, children or private memory grow in the second
 * half of the run (in the first half V8 still compiles code).
 */
async function main(count: number): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), 'sandyard-processes-'))
  try {
    await using daemon = await startDaemonProcess(directory, { nodeFlags: ['--gc-interval=20'] })
    const caller = connectTo(daemon.url)
    let settled: Figures | undefined
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (let index = 0; index < count / ROUNDS / 2; index += 1) await runOne(caller, index)
      const wrong = await compareEnvironments(caller, count / ROUNDS)
      if (wrong.length > 0) throw new Error(wrong.join('\n'))
      console.log(`${round}/${ROUNDS}: ${describeFigures(measure(daemon.pid))}`)
      if (round === ROUNDS / 2) settled = await measureAtRest(daemon.pid)
    }
    const end = await measureAtRest(daemon.pid)
    console.log(`idle: ${describeFigures(end)}; after the first half: ${settled === undefined ? '' : describeFigures(settled)}`)
    return settled !== undefined && !hasGrown(settled, end)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Runs one process in pipes or on a terminal that exits or is killed by a signal. */
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

process.exitCode = (await main(Math.min(Number(process.argv[2] ?? 20_000), MAX_COUNT))) ? 0 : 1
