import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { deleteOlder } from '@sandyard/db/delete-older'
import { isUuid } from '@sandyard/kit/ids/uuid'
import type { VolumeStore } from '@sandyard/runtime/volume-store'

/** Longer than an engine holds a call. */
const KEPT_MS = 30 * 24 * 3_600_000

/** Deletes the row of a deleted volume whose files are gone, and keeps its id. */
export async function forgetVolume(db: Db, volumeId: string): Promise<void> {
  await sql`
    with removed as (delete from volume where volume_id = ${volumeId} and deleted_at is not null returning volume_id)
    insert into deleted_volume (volume_id) select volume_id from removed
    on conflict (volume_id) do update set removed_at = excluded.removed_at
  `.execute(db)
}

/**
 * The volumes that the engine made after their rows were removed: a call that nobody waited for any more. Ids are kept for 30 days. A volume that only has no
 * row is not among them: after the restore of an older backup it is the data of users.
 */
export async function findLateVolumes(db: Db, volumes: VolumeStore, signal?: AbortSignal): Promise<string[]> {
  await deleteOlder(db, { table: 'deleted_volume', time: 'removed_at', ageMs: KEPT_MS, ...(signal && { signal }) })
  const some = await db.selectFrom('deleted_volume').select('volume_id').limit(1).executeTakeFirst()
  if (some === undefined) return []
  const names = (await volumes.list(signal)).filter((name) => isUuid(name))
  const { rows } = await sql<{ volume_id: string }>`
    select volume_id from deleted_volume
    where volume_id = any(${names}::uuid[]) and not exists (select from volume where volume.volume_id = deleted_volume.volume_id)
  `.execute(db)
  return rows.map((row) => row.volume_id)
}
