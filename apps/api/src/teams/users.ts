import type { Selectable } from 'kysely'
import type { Db, Tx } from '@sandyard/db/database'
import type { AppUserTable } from '@sandyard/db/schema/app-user'
import { AppError } from '@sandyard/kit/errors/app-error'
import { checkStorable } from '../builds/start/check-storable.ts'
import { exactTime } from '../tags/ready-assignments.ts'
import { contains, isBefore, type SearchRequest } from './team-rows.ts'

export type UserRow = Selectable<AppUserTable>

/** Newest first, up to `limit + 1`. */
export async function listUserRows(
  db: Db,
  { after, limit, search }: SearchRequest,
): Promise<(UserRow & { readonly exact_time: string })[]> {
  return db
    .selectFrom('app_user')
    .selectAll()
    .select(exactTime('app_user.created_at').as('exact_time'))
    .$if(after !== undefined, (query) => query.where(isBefore('app_user', after)))
    .$if(search !== undefined, (query) => query.where(contains(['app_user.email'], search ?? '')))
    .orderBy('app_user.created_at', 'desc')
    .orderBy('app_user.id', 'desc')
    .limit(limit + 1)
    .execute()
}

export async function findUserRow(db: Db, userId: string): Promise<UserRow | undefined> {
  return db.selectFrom('app_user').selectAll().where('id', '=', userId).executeTakeFirst()
}

export async function findUserByEmail(db: Db, email: string): Promise<UserRow | undefined> {
  return db.selectFrom('app_user').selectAll().where('email', '=', email).executeTakeFirst()
}

/** @throws AppError `already_exists` for the address of another user; `invalid_argument` for one that cannot be stored */
export async function createUser(tx: Tx, email: string): Promise<UserRow> {
  checkStorable({ email })
  const row = await tx
    .insertInto('app_user')
    .values({ email })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returningAll()
    .executeTakeFirst()
  if (row === undefined) throw new AppError('already_exists', `A user with the address '${email}' exists`)
  return row
}

/** Deletes a user with the memberships and access tokens. API keys stay, because they are of teams. False when there is no such user. */
export async function deleteUser(db: Db, userId: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('app_user').where('id', '=', userId).executeTakeFirst()
  return numDeletedRows > 0n
}
