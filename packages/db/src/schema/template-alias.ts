import type { Generated } from 'kysely'
import type { Columns, DefaultedTime } from '../column.ts'

export interface TemplateAliasTable {
  alias: string
  /** The slug of the owning team, or null for a promoted name, which every team may use without a namespace. */
  namespace: string | null
  template_id: string
  is_renamable: Generated<boolean>
  created_at: DefaultedTime
}

export const templateAliasColumns: Columns<TemplateAliasTable> = {
  alias: 'text',
  namespace: 'text null',
  template_id: 'text',
  is_renamable: 'boolean',
  created_at: 'timestamp(3) with time zone',
}
