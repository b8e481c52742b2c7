import { createLogger, type Logger } from '@sandyard/kit/logging/create-logger'

export interface LogLine {
  readonly [field: string]: unknown
  readonly part?: string
  readonly msg?: string
  readonly requestId?: string
}

export interface ReadLog {
  readonly log: Logger
  readonly lines: LogLine[]
}

/** A log whose lines are read, down to level debug. */
export function readLog(): ReadLog {
  const lines: LogLine[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) }
  return { log: createLogger({ name: 'test', level: 'debug', destination }), lines }
}
