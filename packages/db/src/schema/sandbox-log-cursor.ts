import type { Generated } from 'kysely'
import type { Columns } from '../column.ts'

/** How far the entries of a sandbox's daemon are stored in the log of the sandbox. */
export interface SandboxLogCursorTable {
  sandbox_id: string
  /** The run of the daemon that numbered the entries. */
  boot: string
  /** The number of the last stored entry. */
  place: number
  /** Lines that were stored since older ones were last removed. */
  untrimmed: Generated<number>
}

export const sandboxLogCursorColumns: Columns<SandboxLogCursorTable> = {
  sandbox_id: 'text',
  boot: 'text',
  place: 'bigint',
  untrimmed: 'integer',
}
