import { createLogger, type Logger } from '@sandyard/kit/logging/create-logger'
import type { StandaloneConfig } from '../config.ts'
import type { DataDirectory } from '../data/data-directory.ts'
import { BoundedLogFile } from './bounded-log-file.ts'

export interface ServerLog {
  readonly log: Logger
  /** Undefined when the lines go to standard output. */
  readonly file: string | undefined
}

/** The servers' log: JSON lines in a file of the data directory, so that standard output stays with what a person reads. */
export function openLog({ log: place, logLevel: level }: StandaloneConfig, directory: DataDirectory): ServerLog {
  if (place === 'stdout') return { log: createLogger({ name: 'sandyard', level }), file: undefined }
  const file = directory.serverLog
  return { log: createLogger({ name: 'sandyard', level, destination: new BoundedLogFile(file) }), file }
}
