import type { Generated } from 'kysely'
import type { Columns, DefaultedTime } from '../column.ts'

/** A recording of a terminal. */
export interface TerminalRecordingTable {
  recording_id: Generated<string>
  team_id: string
  sandbox_id: string
  terminal_id: string
  title: string
  cols: number
  rows: number
  started_at: DefaultedTime
  /** Null: it goes on, or its server was killed a moment ago. */
  ended_at: Date | null
  bytes: Generated<number>
  is_truncated: Generated<boolean>
  /** When its server wrote it last. */
  seen_at: Date | null
}

export const terminalRecordingColumns: Columns<TerminalRecordingTable> = {
  recording_id: 'uuid',
  team_id: 'uuid',
  sandbox_id: 'text',
  terminal_id: 'uuid',
  title: 'text',
  cols: 'integer',
  rows: 'integer',
  started_at: 'timestamp(3) with time zone',
  ended_at: 'timestamp(3) with time zone null',
  bytes: 'bigint',
  is_truncated: 'boolean',
  seen_at: 'timestamp(3) with time zone null',
}

export interface TerminalRecordingPartTable {
  recording_id: string
  number: number
  content: Buffer
}

export const terminalRecordingPartColumns: Columns<TerminalRecordingPartTable> = {
  recording_id: 'uuid',
  number: 'integer',
  content: 'bytea',
}
