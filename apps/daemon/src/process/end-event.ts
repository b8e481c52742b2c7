import { constants } from 'node:os'
import type { ProcessExit } from './spawn-pipes.ts'

/** The end of a process as clients see it (envd.md 8.7). */
export interface EndEvent {
  /** -1 when a signal ended the process. */
  readonly exitCode: number
  readonly exited: boolean
  readonly status: string
  /** Absent exactly for exit code 0. */
  readonly error?: string
}

/** Go's names of signals, which clients show to their users. */
const SIGNAL_NAMES: Readonly<Partial<Record<NodeJS.Signals, string>>> = {
  SIGHUP: 'hangup',
  SIGINT: 'interrupt',
  SIGQUIT: 'quit',
  SIGILL: 'illegal instruction',
  SIGTRAP: 'trace/breakpoint trap',
  SIGABRT: 'aborted',
  SIGBUS: 'bus error',
  SIGFPE: 'floating point exception',
  SIGKILL: 'killed',
  SIGUSR1: 'user defined signal 1',
  SIGSEGV: 'segmentation fault',
  SIGUSR2: 'user defined signal 2',
  SIGPIPE: 'broken pipe',
  SIGALRM: 'alarm clock',
  SIGTERM: 'terminated',
  SIGSTKFLT: 'stack fault',
  SIGXCPU: 'CPU time limit exceeded',
  SIGXFSZ: 'file size limit exceeded',
  SIGSYS: 'bad system call',
}

export function toEndEvent(exit: ProcessExit): EndEvent {
  if ('code' in exit) {
    const status = `exit status ${exit.code}`
    return { exitCode: exit.code, exited: true, status, ...(exit.code === 0 ? {} : { error: status }) }
  }
  const status = `signal: ${SIGNAL_NAMES[exit.signal] ?? `signal ${constants.signals[exit.signal]}`}`
  return { exitCode: -1, exited: false, status, error: status }
}
