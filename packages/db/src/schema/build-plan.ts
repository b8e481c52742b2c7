import type { ColumnType } from 'kysely'
import type { Columns } from '../column.ts'

/** What a build was made of, after its end. Builds with very long instructions have none. */
export interface BuildPlanTable {
  build_id: string
  /** Read as an object, written as JSON text. */
  plan: ColumnType<unknown, string, string>
  /** It used credentials of a registry, which are not kept. */
  needs_credentials: boolean
}

export const buildPlanColumns: Columns<BuildPlanTable> = {
  build_id: 'uuid',
  plan: 'jsonb',
  needs_credentials: 'boolean',
}
