import type { ColumnType, Generated } from 'kysely'
import type { Columns, DefaultedTime } from '../column.ts'

export interface TemplateTable {
  template_id: string
  team_id: string
  /** The origin; only `template` and `snapshot_template` resolve by id (control-plane.md 2.3). */
  source: 'template' | 'snapshot' | 'snapshot_template'
  /** Usable by every team. */
  is_public: Generated<boolean>
  created_by: string | null
  /** The number of sandboxes started from it. */
  spawn_count: Generated<number>
  build_count: Generated<number>
  last_spawned_at: Date | null
  created_at: DefaultedTime
  updated_at: DefaultedTime
  /** The id of a deleted template stays reserved. */
  deleted_at: Date | null
  /** A default template of the server. */
  is_default: Generated<boolean>
  /** Of a snapshot template: when a tag was last assigned to a ready build. Triggers keep it. */
  snapshotted_at: ColumnType<Date | null, never, never>
}

export const templateColumns: Columns<TemplateTable> = {
  template_id: 'text',
  team_id: 'uuid',
  source: 'text',
  is_public: 'boolean',
  created_by: 'uuid null',
  spawn_count: 'bigint',
  build_count: 'integer',
  last_spawned_at: 'timestamp(3) with time zone null',
  created_at: 'timestamp(3) with time zone',
  updated_at: 'timestamp(3) with time zone',
  deleted_at: 'timestamp(3) with time zone null',
  is_default: 'boolean',
  snapshotted_at: 'timestamp(3) with time zone null',
}
