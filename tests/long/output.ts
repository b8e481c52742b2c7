import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../apps/daemon/test/support/collect.ts'
import { startDaemonProcess } from '../../apps/daemon/test/support/daemon-process.ts'
import { connectTo } from '../../apps/daemon/test/support/process-client.ts'

const MAX_COUNT = 1_000_000
const CONCURRENCY = 4
const LINES = 52_000
/** About 300 KB. */
const EXPECTED = Array.from({ length: LINES }, (_, index) => `${index + 1}\n`).join('')

/**
 * Runs programs that print about 300 KB and exit at once, in pipes and on terminals, in a new daemon: `npm run long:output [-- count]`,
 * default 1,000 of each kind. Exits with 1 if a byte of output is missing or comes after the end.
 */
async function main(count: number): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), 'sandyard-output-'))
  try {
    await using daemon = await startDaemonProcess(directory)
    const caller = connectTo(daemon.url)
    let faults = 0
    for (const kind of ['stdout', 'stderr', 'pty'] as const) {
      let next = 0
      async function work(): Promise<void> {
        for (; next < count;) {
          next += 1
          const fault = await runOne(caller, kind)
          if (fault !== undefined) console.error(`${kind} ${next}: ${fault}`)
          faults += fault === undefined ? 0 : 1
        }
      }
      await Promise.all(Array.from({ length: CONCURRENCY }, work))
      console.log(`${kind}: ${count} runs, ${faults} faults so far`)
    }
    return faults === 0
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function runOne(caller: ReturnType<typeof connectTo>, kind: 'stdout' | 'stderr' | 'pty'): Promise<string | undefined> {
  const request = kind === 'pty' ? { pty: { size: { cols: 80, rows: 24 } } } : {}
  const command = kind === 'stderr' ? ['/bin/sh', '-c', `exec seq ${LINES} >&2`] : ['/usr/bin/seq', String(LINES)]
  const outcome = await run(caller, command, { request })
  const text = outcome[kind].replaceAll('\r\n', '\n')
  if (outcome.kinds.join() !== `start,${kind},end` || outcome.end?.exitCode !== 0)
    return `${outcome.kinds.join()} ${JSON.stringify(outcome.end)}`
  return text === EXPECTED ? undefined : `${text.length} bytes of ${EXPECTED.length}`
}

process.exitCode = (await main(Math.min(Number(process.argv[2] ?? 1000), MAX_COUNT))) ? 0 : 1
