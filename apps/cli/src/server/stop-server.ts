import type { DataDirectory } from '@sandyard/api/program/data/data-directory'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { findServerPid } from './running-server.ts'

interface StopOptions {
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

const EVERY_MS = 100

/**
 * Ends a server in order: it finishes its requests first. Returns when it has ended.
 *
 * @throws CliFailure `refused` for the process of another user; AppError `deadline_exceeded`; the abort reason
 */
export async function stopServer(directory: DataDirectory, pid: number, { timeoutMs, signal }: StopOptions): Promise<void> {
  try {
    process.kill(pid, 'SIGTERM')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ESRCH') return
    throw new CliFailure(EXIT.refused, `The server (process ${pid}) belongs to another user: run this as that user.`, { cause })
  }
  const what = `the server (process ${pid}) to end`
  await pollUntil({ what, timeoutMs, everyMs: EVERY_MS, signal }, () => (findServerPid(directory) === pid ? undefined : true))
}
