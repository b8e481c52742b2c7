import type { Columns } from '../column.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Append-only. */
export interface BuildLogTable {
  build_id: string
  /** From 1, without gaps. */
  seq: number
  time: Date
  level: LogLevel
  /** `base`, the number of a step from 1, or `finalize`; null for lines of the build as a whole. */
  step: string | null
  message: string
}

export const buildLogColumns: Columns<BuildLogTable> = {
  build_id: 'uuid',
  seq: 'integer',
  time: 'timestamp(3) with time zone',
  level: 'text',
  step: 'text null',
  message: 'text',
}
