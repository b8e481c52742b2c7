import type { Generated } from 'kysely'
import type { Columns, CreatedAt } from '../column.ts'

/** Append-only: the newest row of a tag with a ready build wins (control-plane.md 2.7). */
export interface TagAssignmentTable {
  assignment_id: Generated<string>
  template_id: string
  build_id: string
  tag: string
  created_at: CreatedAt
}

export const tagAssignmentColumns: Columns<TagAssignmentTable> = {
  assignment_id: 'uuid',
  template_id: 'text',
  build_id: 'uuid',
  tag: 'text',
  created_at: 'timestamp with time zone',
}
