import type { Columns } from '../column.ts'

/** How many sandboxes of a template were created in ten seconds. */
export interface PoolDemandTable {
  template_id: string
  /** As the create named it: a tag, or the id of a build. */
  tag: string
  /** The beginning of the ten seconds. */
  slot: Date
  creates: number
}

export const poolDemandColumns: Columns<PoolDemandTable> = {
  template_id: 'text',
  tag: 'text',
  slot: 'timestamp(0) with time zone',
  creates: 'integer',
}
