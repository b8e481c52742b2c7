import type { ProcessExit } from './child-exits.ts'

/** The end of a process as clients see it (envd.md 8.7). */
export interface EndEvent {
  /** -1 if a signal ended the process, or if its exit status is unknown. */
  readonly exitCode: number
  readonly exited: boolean
  readonly status: string
  /** Absent exactly for exit code 0. */
  readonly error?: string
}

/** Go's names of signals by their numbers (Linux, x64 and arm64). Clients show them to their users. */
const SIGNAL_NAMES: Readonly<Partial<Record<number, string>>> = {
  1: 'hangup',
  2: 'interrupt',
  3: 'quit',
  4: 'illegal instruction',
  5: 'trace/breakpoint trap',
  6: 'aborted',
  7: 'bus error',
  8: 'floating point exception',
  9: 'killed',
  10: 'user defined signal 1',
  11: 'segmentation fault',
  12: 'user defined signal 2',
  13: 'broken pipe',
  14: 'alarm clock',
  15: 'terminated',
  16: 'stack fault',
  24: 'CPU time limit exceeded',
  25: 'file size limit exceeded',
  26: 'virtual timer expired',
  27: 'profiling timer expired',
  29: 'I/O possible',
  30: 'power failure',
  31: 'bad system call',
}

export function toEndEvent(exit: ProcessExit): EndEvent {
  if ('failure' in exit) return { exitCode: -1, exited: false, status: exit.failure, error: exit.failure }
  if ('code' in exit) {
    const status = `exit status ${exit.code}`
    return { exitCode: exit.code, exited: true, status, ...(exit.code === 0 ? {} : { error: status }) }
  }
  const { signal, coreDumped } = exit
  const status = `signal: ${SIGNAL_NAMES[signal] ?? `signal ${signal}`}${coreDumped ? ' (core dumped)' : ''}`
  return { exitCode: -1, exited: false, status, error: status }
}
