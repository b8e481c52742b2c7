/**
 * The engine that Sandyard started itself: one `dockerd` for the machine, in its own session, which outlives
 * the server. A record file is written right after the start. Before the engine is ended, the process is compared with the record.
 */
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Environment } from '@sandyard/kit/config/parse-config'
import { rotateFile } from '../logging/bounded-log-file.ts'
import { childEnvironment } from '../process/child-environment.ts'
import { commandLine, endProcess, identifyChild, isStillRunning, type ProcessIdentity } from '../process/process-identity.ts'

export interface OwnedDockerdOptions {
  readonly program: string
  readonly args: readonly string[]
  /** Those of the server: its secrets are withheld, because the engine outlives it. */
  readonly environment: Environment
  /** The file with the record of the running process. */
  readonly recordFile: string
  readonly logFile: string
}

/** The paths of the machine's engine, on a file system that a reboot empties. */
export const MACHINE_ENGINE = {
  recordFile: '/run/sandyard/engine.json',
  authoritiesFolder: '/run/sandyard/authorities',
  logFile: '/var/log/sandyard-engine.log',
  dockerPidFile: '/var/run/docker.pid',
} as const

/** The limits of Debian's own service file: enough open files, and no limit on processes except those of control groups. */
const WITH_LIMITS = 'ulimit -n 1048576 2>/dev/null; ulimit -u unlimited 2>/dev/null || ulimit -p unlimited 2>/dev/null; exec "$0" "$@"'
const STOP_SIGNALS = [
  { signal: 'SIGTERM', waitMs: 60_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
] as const

/**
 * Starts the engine detached from this process and terminal, with a new log, and records it. It does not wait until the engine answers.
 */
export function startOwnedDockerd({ program, args, environment, recordFile, logFile }: OwnedDockerdOptions): ProcessIdentity {
  mkdirSync(dirname(recordFile), { recursive: true, mode: 0o700 })
  rotateFile(logFile, 0)
  const log = openSync(logFile, 'a', 0o600)
  try {
    const child = spawn('/bin/sh', ['-c', WITH_LIMITS, program, ...args], {
      detached: true,
      stdio: ['ignore', log, log],
      cwd: '/',
      env: childEnvironment(environment),
    })
    child.on('error', () => undefined)
    child.unref()
    if (child.pid === undefined) throw new Error(`${program} could not be started`)
    const identity = identifyChild(child.pid)
    writeFileSync(recordFile, JSON.stringify(identity), { mode: 0o600 })
    return identity
  } finally {
    closeSync(log)
  }
}

/** Returns the recorded engine if it still runs. */
export function findOwnedDockerd(recordFile: string): ProcessIdentity | undefined {
  try {
    const identity = JSON.parse(readFileSync(recordFile, 'utf8')) as ProcessIdentity
    return isStillRunning(identity) ? identity : undefined
  } catch {
    return undefined
  }
}

/** Ends the recorded engine, and no other. */
export async function stopOwnedDockerd(recordFile: string): Promise<'stopped' | 'not-ours' | 'still-running'> {
  const identity = findOwnedDockerd(recordFile)
  if (identity === undefined) return 'not-ours'
  if (!(await endProcess(identity, STOP_SIGNALS))) return 'still-running'
  rmSync(recordFile, { force: true })
  return 'stopped'
}

/**
 * Removes the pid file of a killed engine. The engine refuses to start when the number in it belongs to any
 * process, even an unrelated one.
 */
export function removeStalePidFile(pidFile: string): void {
  try {
    const pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10)
    const [program = ''] = commandLine(pid)
    if (!program.endsWith('dockerd')) rmSync(pidFile, { force: true })
  } catch {
    // Without a file nothing has to be removed.
  }
}

/** The last line of the engine's log that gives the reason of its end, shortened. */
export function lastEngineError(logFile: string): string {
  try {
    const lines = readFileSync(logFile, 'utf8').trim().split('\n')
    const line = lines.findLast((text) => /failed|error|fatal/i.test(text)) ?? lines.at(-1) ?? ''
    return (/msg="((?:[^"\\]|\\.)*)"/.exec(line)?.[1] ?? line).trim().slice(0, 300)
  } catch {
    return 'it wrote no log'
  }
}
