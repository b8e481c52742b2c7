import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import type { StorageLimits } from './storage-limits.ts'
import { tooMuchStored } from './team-errors.ts'
import { limitsOf } from './team-limits.ts'
import type { LockedTeam } from './team-transaction.ts'

export interface StoreWish {
  readonly teamId: string
  readonly sizeBytes: number
  /** The size of what it replaces. */
  readonly replacedBytes: number
}

/**
 * What counts against the limit of a team: its uploads and its volumes, also deleted ones whose files are there, and what uploads in flight may write.
 * One statement: an upload that ends meanwhile counts once.
 */
export async function countStored(db: Db, teamId: string): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select (
      coalesce((select sum(size_bytes) from layer_upload where team_id = ${teamId}), 0)
      + coalesce((select sum(size_bytes) from volume where team_id = ${teamId}), 0)
      + coalesce((select sum(bytes) from volume_upload where team_id = ${teamId} and expires_at > clock_timestamp()), 0)
    )::bigint as bytes
  `.execute(db)
  return rows[0]?.bytes ?? 0
}

/**
 * Checks that a team may store this. @param defaults - of the settings
 *
 * @throws AppError `insufficient_storage`
 */
export async function checkStored(db: Db, defaults: StorageLimits, { teamId, sizeBytes, replacedBytes }: StoreWish): Promise<void> {
  const limit = await findLimit(db, defaults, teamId)
  if (limit === undefined) return
  if ((await countStored(db, teamId)) - replacedBytes + sizeBytes > limit.bytes) throw tooMuchStored(limit.bytes, limit.isOwn)
}

/** Whether what a team stores is limited. Then it is counted in a `teamTransaction`, with `checkStored` or `findRoom`. */
export async function hasStorageLimit(db: Db, defaults: StorageLimits, teamId: string): Promise<boolean> {
  return (await findLimit(db, defaults, teamId)) !== undefined
}

/**
 * How much a team may store more; undefined: no limit.
 *
 * @throws AppError `insufficient_storage` for less than `leastBytes`
 */
export async function findRoom({ tx, id, own }: LockedTeam, defaults: StorageLimits, leastBytes: number): Promise<number | undefined> {
  const { maxStoredBytes: limit } = limitsOf(defaults, own)
  if (limit === undefined) return undefined
  const room = limit - (await countStored(tx, id))
  if (room < leastBytes) throw tooMuchStored(limit, own.maxStoredBytes !== undefined)
  return room
}

async function findLimit(db: Db, { maxStoredBytes }: StorageLimits, teamId: string) {
  const team = await db.selectFrom('team').select('max_stored_bytes as own').where('id', '=', teamId).executeTakeFirst()
  const own = team?.own ?? undefined
  const bytes = own ?? maxStoredBytes
  return bytes === undefined ? undefined : { bytes, isOwn: own !== undefined }
}
