import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { secretNotFound } from './secret-errors.ts'
import { keyOfSecret, type SecretRow } from './secret-rows.ts'

export interface SecretPage {
  /** The last secret of the former page. */
  readonly after: { readonly time: string; readonly id: string } | undefined
  readonly limit: number
}

/** The secrets of a team, newest first. Returns up to `limit + 1` rows; the extra row only shows that there are more. */
export async function listSecrets(db: Db, teamId: string, { after, limit }: SecretPage): Promise<SecretRow[]> {
  let query = db.selectFrom('secret').selectAll().where('team_id', '=', teamId)
  if (after !== undefined) query = query.where(sql<boolean>`(created_at, secret_id) < (${after.time}::timestamptz, ${after.id})`)
  return query
    .orderBy('created_at', 'desc')
    .orderBy('secret_id', 'desc')
    .limit(limit + 1)
    .execute()
}

/** @throws AppError `not_found` */
export async function getSecret(db: Db, teamId: string, idOrName: string): Promise<SecretRow> {
  const row = await db
    .selectFrom('secret')
    .selectAll()
    .where('team_id', '=', teamId)
    .where((eb) => eb.and(keyOfSecret(idOrName)))
    .executeTakeFirst()
  if (row === undefined) throw secretNotFound()
  return row
}
