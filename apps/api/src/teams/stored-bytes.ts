import { sql } from 'kysely'
import type { Db, Tx } from '@sandyard/db/database'
import type { StorageLimits } from './storage-limits.ts'
import { tooMuchStored } from './team-errors.ts'

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

/**
 * How much a team may store more, in a transaction that has called `lockStored`; undefined: no limit.
 *
 * @throws AppError `insufficient_storage` for less than `leastBytes`
 */
export async function findRoom(
  tx: Tx,
  defaults: StorageLimits,
  wish: { readonly teamId: string; readonly leastBytes: number },
): Promise<number | undefined> {
  const limit = await findLimit(tx, defaults, wish.teamId)
  if (limit === undefined) return undefined
  const room = limit.bytes - (await countStored(tx, wish.teamId))
  if (room < wish.leastBytes) throw tooMuchStored(limit.bytes, limit.isOwn)
  return room
}

/**
 * Serialises, until the end of the transaction, what a team with a limit stores. It is taken before every other lock, like that of `lockTeam`. To be
 * followed by `checkStored` or `findRoom`.
 */
export async function lockStored(tx: Tx, defaults: StorageLimits, teamId: string): Promise<void> {
  if ((await findLimit(tx, defaults, teamId)) === undefined) return
  await tx.selectFrom('team').select('id').where('id', '=', teamId).forNoKeyUpdate().execute()
}

async function findLimit(db: Db, { maxStoredBytes }: StorageLimits, teamId: string) {
  const team = await db.selectFrom('team').select('max_stored_bytes as own').where('id', '=', teamId).executeTakeFirst()
  const own = team?.own ?? undefined
  const bytes = own ?? maxStoredBytes
  return bytes === undefined ? undefined : { bytes, isOwn: own !== undefined }
}
