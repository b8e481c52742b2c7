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
  /** What the content API has ever written. */
  written_bytes: Generated<number>
  /** The last attempt to measure this volume alone. */
  measured_at: Date | null
}

export const volumeColumns: Columns<VolumeTable> = {
  volume_id: 'uuid',
  team_id: 'uuid',
  name: 'text',
  created_by: 'jsonb',
  created_at: 'timestamp(3) with time zone',
  deleted_at: 'timestamp(3) with time zone null',
  size_bytes: 'bigint',
  written_bytes: 'bigint',
  measured_at: 'timestamp(3) with time zone null',
}

/** Bytes that an upload in flight may write; they count as stored. */
export interface VolumeUploadTable {
  upload_id: string
  volume_id: string
  team_id: string
  bytes: number
  /** For uploads whose server has died. */
  expires_at: Date
}

export const volumeUploadColumns: Columns<VolumeUploadTable> = {
  upload_id: 'uuid',
  volume_id: 'uuid',
  team_id: 'uuid',
  bytes: 'bigint',
  expires_at: 'timestamp(3) with time zone',
}

/** Volumes whose files were removed; a row has no volume any more. */
export interface DeletedVolumeTable {
  volume_id: string
  removed_at: DefaultedTime
}

export const deletedVolumeColumns: Columns<DeletedVolumeTable> = {
  volume_id: 'uuid',
  removed_at: 'timestamp(3) with time zone',
}
