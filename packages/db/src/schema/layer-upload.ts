import type { Columns, DefaultedTime } from '../column.ts'

/** The archive of a COPY step, stored as a file under team and hash. */
export interface LayerUploadTable {
  team_id: string
  /** 64 hex digits: a key that the client chooses, not a digest of the bytes (design.md 3a). */
  hash: string
  size_bytes: number
  created_at: DefaultedTime
  last_used_at: DefaultedTime
}

export const layerUploadColumns: Columns<LayerUploadTable> = {
  team_id: 'uuid',
  hash: 'text',
  size_bytes: 'bigint',
  created_at: 'timestamp(3) with time zone',
  last_used_at: 'timestamp(3) with time zone',
}
