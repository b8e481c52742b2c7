import type { ProcessConfig } from '@sandyard/daemon-protocol/process/process_pb'
import type { EndEvent } from '../process/end-event.ts'
import type { LogRing } from './log-ring.ts'

const LOGGER = 'process'
const MAX_COMMAND_LENGTH = 512

/** A process whose start and end are logged. */
export interface LoggedProcess {
  readonly pid: number
  readonly config: Pick<ProcessConfig, 'cmd' | 'args'>
  readonly user: string
}

/**
 * Logs the start of a process: its command, cut off after 512 characters, never its variables.
 *
 * @returns a function that logs its end
 */
export function logProcess(ring: LogRing, { pid, config, user }: LoggedProcess): (end: EndEvent) => void {
  const startedAt = performance.now()
  const cmd = [config.cmd, ...config.args].join(' ').slice(0, MAX_COMMAND_LENGTH).toWellFormed()
  ring.append({ level: 'info', message: 'Process started', fields: { logger: LOGGER, pid, user, cmd } })
  return ({ exitCode, status }) => {
    const durationMs = Math.round(performance.now() - startedAt)
    ring.append({
      level: exitCode === 0 ? 'info' : 'warn',
      message: 'Process ended',
      fields: { logger: LOGGER, pid, exitCode, status, durationMs },
    })
  }
}
