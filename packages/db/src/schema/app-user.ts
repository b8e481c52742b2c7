import type { Generated } from 'kysely'
import type { Columns, CreatedAt } from '../column.ts'

export interface AppUserTable {
  id: Generated<string>
  email: string
  created_at: CreatedAt
}

export const appUserColumns: Columns<AppUserTable> = {
  id: 'uuid',
  email: 'text',
  created_at: 'timestamp with time zone',
}
