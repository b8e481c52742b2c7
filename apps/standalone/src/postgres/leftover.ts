/** Leftovers of a killed server: a Postgres that still runs on its files, or the pid file of one that does not run. */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { StartFailure } from '@sandyard/api/program/failures/start-failure'
import { commandLine, endProcess, identifyProcess } from '../process/process-identity.ts'

/** Fast shutdown, immediate shutdown, and the signal that no process can ignore. */
export const STOP_SIGNALS = [
  { signal: 'SIGINT', waitMs: 15_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
] as const

/**
 * Ends a Postgres that still runs on `folder`, and removes a stale pid file. The caller has the lock of the data
 * directory, so the server that started this Postgres no longer runs.
 */
export async function endLeftover(folder: string): Promise<'none' | 'ended' | 'stale-file'> {
  const file = join(folder, 'postmaster.pid')
  let pid: number
  try {
    pid = Number.parseInt(readFileSync(file, 'utf8'), 10)
  } catch {
    return 'none'
  }
  const identity = commandLine(pid).includes(folder) ? identifyProcess(pid) : undefined
  if (identity === undefined) {
    rmSync(file, { force: true })
    return 'stale-file'
  }
  if (!(await endProcess(identity, STOP_SIGNALS))) {
    throw new StartFailure(`A Postgres of an earlier server (process ${pid}) does not end: end it and run this again.`)
  }
  return 'ended'
}
