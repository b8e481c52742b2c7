import type { Columns, DefaultedTime } from '../column.ts'

/** A build of a ready-made template. */
export interface ReadyMadeBuildTable {
  build_id: string
  name: string
  version: number
  /** SHA-256 of what the folder of the template described. */
  digest: string
  created_at: DefaultedTime
}

export const readyMadeBuildColumns: Columns<ReadyMadeBuildTable> = {
  build_id: 'uuid',
  name: 'text',
  version: 'integer',
  digest: 'text',
  created_at: 'timestamp(3) with time zone',
}
