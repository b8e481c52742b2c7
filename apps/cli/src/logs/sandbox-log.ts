import { setTimeout as delay } from 'node:timers/promises'
import { MAX_SANDBOX_LOGS, type SandboxLogEntry } from '@sandyard/api-contract/sandboxes/sandbox-logs'
import { ApiRefusal } from '../api-client.ts'
import type { CliParts } from '../cli-parts.ts'
import { EXIT } from '../exit-codes.ts'
import { getSandbox } from '../sandboxes.ts'
import { NewLines, printLine, type LogOptions } from './log-line.ts'

const EVERY_MS = 1000
/** Of the lifecycle, after everything that the sandbox itself has written. */
const LAST_LINE = 'Sandbox ended'
/** How long that line is waited for: the last lines of a sandbox are stored a moment after its end. */
const DRAIN_MS = 10_000

/** The log of a sandbox, also of one that has ended. @throws CliFailure `notFound` when there is neither a line nor a sandbox */
export async function showSandboxLog(parts: CliParts, sandboxID: string, { lines, follow, level }: LogOptions): Promise<void> {
  const { output, signal } = parts
  const page = (query: Record<string, string | number | undefined>): Promise<readonly SandboxLogEntry[]> =>
    parts.api
      .call<{ logs: SandboxLogEntry[] }>('getSandboxLogsV2', { path: { sandboxID }, query: { ...query, level } })
      .then(({ logs }) => logs)
  const fresh = new NewLines()
  const last = await page({ direction: 'backward', limit: MAX_SANDBOX_LOGS })
  if (last.length === 0) await getSandbox(parts.api, sandboxID)
  const shown = fresh.take(last.toReversed(), false)
  for (const line of lines === 0 ? [] : shown.slice(-lines)) printLine(output, line)
  if (!follow) return

  let endedAt: number | undefined
  let isLast = false
  while (endedAt === undefined || Date.now() - endedAt < DRAIN_MS) {
    await delay(EVERY_MS, undefined, { signal })
    if (endedAt === undefined && !(await exists(parts, sandboxID))) endedAt = Date.now()
    for (let isFull = true; isFull;) {
      const next = await page({ direction: 'forward', cursor: fresh.cursor, limit: MAX_SANDBOX_LOGS })
      isFull = next.length === MAX_SANDBOX_LOGS
      for (const line of fresh.take(next, isFull)) {
        printLine(output, line)
        isLast ||= line.fields['logger'] === 'lifecycle' && line.message === LAST_LINE
      }
    }
    if (isLast && endedAt !== undefined) break
  }
  output.say(`The sandbox ${sandboxID} has ended.`)
}

async function exists({ api }: CliParts, sandboxID: string): Promise<boolean> {
  try {
    await getSandbox(api, sandboxID)
    return true
  } catch (err) {
    if (err instanceof ApiRefusal && err.exitCode === EXIT.notFound) return false
    throw err
  }
}
