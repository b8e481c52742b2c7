import type { Generated } from 'kysely'
import type { Columns, DefaultedTime } from '../column.ts'
import type { JsonObject } from './sandbox.ts'

/** A volume of a team (control-plane.md 15). */
export interface VolumeTable {
  /** Also its name in the volume store of the runtime. */
  volume_id: string
  team_id: string
  /** Unique among the volumes of the team that are not deleted. */
  name: string
  /** The key, the user or the administrator that made it. */
  created_by: JsonObject<Readonly<Record<string, string>>>
  created_at: DefaultedTime
  /** Its name is free, but its files may still be there. */
  deleted_at: Date | null
  /** As the engine has counted it, with what the content API has written since. */
  size_bytes: Generated<number>
}

export const volumeColumns: Columns<VolumeTable> = {
  volume_id: 'uuid',
  team_id: 'uuid',
  name: 'text',
  created_by: 'jsonb',
  created_at: 'timestamp(3) with time zone',
  deleted_at: 'timestamp(3) with time zone null',
  size_bytes: 'bigint',
}
