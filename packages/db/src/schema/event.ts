import type { ColumnType, Generated } from 'kysely'
import type { Columns, CreatedAt } from '../column.ts'

/** The event log; the transaction of the change writes the row. */
export interface EventTable {
  event_id: Generated<number>
  team_id: string
  kind: string
  /** The id of the changed object, such as a sandbox id. */
  subject: string
  data: ColumnType<Record<string, unknown>, string | undefined, never>
  created_at: CreatedAt
  /** The position for readers with a cursor; assigned after the commit (`events/read-events.ts`). */
  place: Generated<number | null>
  /** The request that made the change; null for changes of the server itself. */
  request_id: string | null
}

export const eventColumns: Columns<EventTable> = {
  event_id: 'bigint',
  team_id: 'uuid',
  kind: 'text',
  subject: 'text',
  data: 'jsonb',
  created_at: 'timestamp with time zone',
  place: 'bigint null',
  request_id: 'text null',
}
