import type { ProcessConfig } from '@sandyard/daemon-protocol/process/process_pb'
import type { EndEvent } from './end-event.ts'
import type { LogRing } from '../logs/log-ring.ts'

const LOGGER = 'process'
const MAX_COMMAND_LENGTH = 512

/** Logs the start and the end of one process: its command, cut off after 512 characters, never its variables or output. */
export class ProcessLog {
  readonly #ring: LogRing
  readonly #cmd: string
  #startedAt = performance.now()

  constructor(ring: LogRing, { cmd, args }: Pick<ProcessConfig, 'cmd' | 'args'>) {
    this.#ring = ring
    this.#cmd = [cmd, ...args].join(' ').slice(0, MAX_COMMAND_LENGTH).toWellFormed()
  }

  started(pid: number, user: string): void {
    this.#startedAt = performance.now()
    this.#ring.append({ level: 'info', message: 'Process started', fields: { logger: LOGGER, pid, user, cmd: this.#cmd } })
  }

  ended(pid: number, { exitCode, status }: EndEvent): void {
    const durationMs = Math.round(performance.now() - this.#startedAt)
    const fields = { logger: LOGGER, pid, exitCode, status, durationMs }
    this.#ring.append({ level: exitCode === 0 ? 'info' : 'warn', message: 'Process ended', fields })
  }
}
