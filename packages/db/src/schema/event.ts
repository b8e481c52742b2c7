import type { ColumnType, Generated } from 'kysely'
import type { Columns, CreatedAt } from '../column.ts'

/** Append-only log; a row is written by the transaction that it tells of. */
export interface EventTable {
  event_id: Generated<number>
  team_id: string
  kind: string
  /** The id of what it is about, such as a sandbox id. */
  subject: string
  data: ColumnType<Record<string, unknown>, string | undefined, never>
  created_at: CreatedAt
}

export const eventColumns: Columns<EventTable> = {
  event_id: 'bigint',
  team_id: 'uuid',
  kind: 'text',
  subject: 'text',
  data: 'jsonb',
  created_at: 'timestamp with time zone',
}
