import { sql } from 'kysely'
import type { Db, Tx } from '@sandyard/db/database'
import type { UploadKey } from './upload-link.ts'

/** The namespace of these advisory locks in the database. */
const LOCK_CLASS = 5_417_905

/** Locks the file and the row of an upload until the end of the transaction. Every change needs this lock. */
export async function lockUpload(tx: Tx, { teamId, hash }: UploadKey): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK_CLASS}, hashtext(${`${teamId}/${hash}`}))`.execute(tx)
}

export async function upsertUpload(tx: Tx, { teamId, hash }: UploadKey, sizeBytes: number): Promise<void> {
  const now = sql<Date>`clock_timestamp()`
  await tx
    .insertInto('layer_upload')
    .values({ team_id: teamId, hash, size_bytes: sizeBytes })
    .onConflict((conflict) =>
      conflict.columns(['team_id', 'hash']).doUpdateSet({ size_bytes: sizeBytes, created_at: now, last_used_at: now }),
    )
    .execute()
}

/** Sets the time of the last use to now. False when the upload does not exist. */
export async function touchUpload(db: Db, { teamId, hash }: UploadKey): Promise<boolean> {
  const touched = await db
    .updateTable('layer_upload')
    .set({ last_used_at: sql<Date>`clock_timestamp()` })
    .where('team_id', '=', teamId)
    .where('hash', '=', hash)
    .executeTakeFirst()
  return touched.numUpdatedRows > 0n
}

export async function findUploadSize(db: Db, { teamId, hash }: UploadKey): Promise<number | undefined> {
  const row = await db
    .selectFrom('layer_upload')
    .select('size_bytes')
    .where('team_id', '=', teamId)
    .where('hash', '=', hash)
    .executeTakeFirst()
  return row?.size_bytes
}
