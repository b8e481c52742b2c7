import type { ColumnType } from 'kysely'
import type { Columns, DefaultedTime } from '../column.ts'

/** An image that a step of a build made, by what made it (control-plane.md 11.8). */
export interface BuildLayerTable {
  team_id: string
  /** SHA-256 in hex over everything that the image depends on. */
  key: string
  image: string
  /** What holds after the step; read as an object, written as its JSON text. */
  result: ColumnType<unknown, string, string>
  created_at: DefaultedTime
  last_used_at: DefaultedTime
}

export const buildLayerColumns: Columns<BuildLayerTable> = {
  team_id: 'uuid',
  key: 'text',
  image: 'text',
  result: 'jsonb',
  created_at: 'timestamp(3) with time zone',
  last_used_at: 'timestamp(3) with time zone',
}
