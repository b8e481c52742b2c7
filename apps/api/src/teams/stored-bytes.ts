import type { Db, Tx } from '@sandyard/db/database'
import type { StorageLimits } from './storage-limits.ts'
import { tooMuchStored } from './team-errors.ts'

export interface StoreWish {
  readonly teamId: string
  readonly sizeBytes: number
  /** The size of what it replaces. */
  readonly replacedBytes: number
}

/** What counts against the limit of a team: its uploads and its volumes, also deleted ones whose files are there. */
export async function countStored(db: Db, teamId: string): Promise<number> {
  const sumOf = async (table: 'layer_upload' | 'volume'): Promise<number> => {
    const { bytes } = await db
      .selectFrom(table)
      .select((eb) => eb.fn.coalesce(eb.cast<number>(eb.fn.sum('size_bytes'), 'bigint'), eb.lit(0)).as('bytes'))
      .where('team_id', '=', teamId)
      .executeTakeFirstOrThrow()
    return bytes
  }
  return (await sumOf('layer_upload')) + (await sumOf('volume'))
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
 * Serialises, until the end of the transaction, what a team with a limit stores. It is taken before every other lock, like that of `lockTeam`. To be
 * followed by `checkStored`.
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
