/** Signals as the daemon words them in the status of an end (envd.md 8.7). */
const SIGNALS: Readonly<Record<string, number>> = {
  hangup: 1,
  interrupt: 2,
  quit: 3,
  'illegal instruction': 4,
  'trace/breakpoint trap': 5,
  aborted: 6,
  'bus error': 7,
  'floating point exception': 8,
  killed: 9,
  'segmentation fault': 11,
  'broken pipe': 13,
  'alarm clock': 14,
  terminated: 15,
}

export interface ProcessEnd {
  /** -1 after a signal. */
  readonly exitCode: number
  readonly status: string
}

/** The exit code by which a shell reports this end: 128 and the number of the signal after a signal. */
export function shellExitCode({ exitCode, status }: ProcessEnd): number {
  if (exitCode >= 0) return exitCode
  const name = /^signal: (?:signal )?(.+?)(?: \(core dumped\))?$/.exec(status)?.[1] ?? ''
  const signal = SIGNALS[name] ?? (/^\d+$/.test(name) ? Number(name) : undefined)
  return signal === undefined ? 255 : 128 + signal
}
