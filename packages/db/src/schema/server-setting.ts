import type { Columns, CreatedAt } from '../column.ts'

/** Values that an installation creates once and all replicas share. Some are secrets. */
export interface ServerSettingTable {
  name: string
  value: string
  created_at: CreatedAt
}

export const serverSettingColumns: Columns<ServerSettingTable> = {
  name: 'text',
  value: 'text',
  created_at: 'timestamp with time zone',
}
