import { createLogger, type Logger } from '@sandyard/kit/logging/create-logger'
import type { StandaloneConfig } from '../config.ts'
import type { DataDirectory } from '@sandyard/api/program/data/data-directory'
import { BoundedLogFile } from './bounded-log-file.ts'

export interface ServerLog {
  readonly log: Logger
  /** Undefined when the lines go to standard output. */
  readonly file: string | undefined
  /** Adds the log of a child process, in chunks of any size; undefined when children share standard output. */
  readonly logChunk: ((chunk: Buffer) => void) | undefined
}

/** The log of the servers: JSON lines in a file of the data directory. Standard output is only for messages to a person. */
export function openLog({ log: place, logLevel: level }: StandaloneConfig, directory: DataDirectory): ServerLog {
  if (place === 'stdout') return { log: createLogger({ name: 'sandyard', level }), file: undefined, logChunk: undefined }
  const file = directory.serverLog
  const destination = new BoundedLogFile(file)
  return { log: createLogger({ name: 'sandyard', level, destination }), file, logChunk: (chunk) => destination.writeChunk(chunk) }
}
