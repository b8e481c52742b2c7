import type { Columns, DefaultedTime } from '../column.ts'

/** A start of a template that is not folded into its `spawn_count` yet. */
export interface TemplateSpawnTable {
  template_id: string
  spawned_at: DefaultedTime
}

export const templateSpawnColumns: Columns<TemplateSpawnTable> = {
  template_id: 'text',
  spawned_at: 'timestamp(3) with time zone',
}
