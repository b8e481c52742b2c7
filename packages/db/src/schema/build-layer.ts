import type { ColumnType } from 'kysely'
import type { Columns, DefaultedTime } from '../column.ts'

/** The image of a layer, by the key of its inputs (control-plane.md 11.8). */
export interface BuildLayerTable {
  team_id: string
  /** SHA-256 in hex over all inputs of the image. */
  key: string
  image: string
  /** The context after the step. Read as an object, written as JSON text. */
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
