import { sql } from 'kysely'
import type { Database, Db, Tx } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { PageRequest } from '../templates/list-templates.ts'
import { exactTime } from '../tags/ready-assignments.ts'
import { teamNotFound, userNotFound } from './team-errors.ts'

export interface MemberRow {
  readonly user_id: string
  readonly email: string
  readonly is_default: boolean
  readonly created_at: Date
  readonly exact_time: string
}

export interface Membership {
  readonly teamId: string
  readonly userId: string
}

/** Newest first, up to `limit + 1`. */
export async function listMembers(db: Db, teamId: string, { after, limit }: PageRequest): Promise<MemberRow[]> {
  return db
    .selectFrom('team_member')
    .innerJoin('app_user', 'app_user.id', 'team_member.user_id')
    .select(['team_member.user_id', 'app_user.email', 'team_member.is_default', 'team_member.created_at'])
    .select(exactTime('team_member.created_at').as('exact_time'))
    .where('team_member.team_id', '=', teamId)
    .$if(after !== undefined, (query) =>
      query.where(
        sql<boolean>`(team_member.created_at, team_member.user_id) < (${after?.time ?? null}::timestamptz, ${after?.id ?? null}::uuid)`,
      ),
    )
    .orderBy('team_member.created_at', 'desc')
    .orderBy('team_member.user_id', 'desc')
    .limit(limit + 1)
    .execute()
}

/**
 * Makes a user a member, or changes whether the team is the default of the user. A user with teams has a default at any time: the first one,
 * until another is chosen (control-plane.md 1.9).
 *
 * @throws AppError `not_found` for an unknown team or user
 */
export async function putMember(database: Database, { teamId, userId }: Membership, isDefault?: boolean): Promise<void> {
  await database.transaction(async (tx) => {
    const team = await tx.selectFrom('team').select('id').where('id', '=', teamId).forKeyShare().executeTakeFirst()
    if (team === undefined) throw teamNotFound()
    await requireUser(tx, userId)
    if (isDefault === true) {
      await tx.updateTable('team_member').set({ is_default: false }).where('user_id', '=', userId).where('is_default', '=', true).execute()
    }
    await tx
      .insertInto('team_member')
      .values({ team_id: teamId, user_id: userId, is_default: isDefault === true })
      .onConflict((conflict) => {
        const own = conflict.columns(['team_id', 'user_id'])
        return isDefault === undefined ? own.doNothing() : own.doUpdateSet({ is_default: isDefault })
      })
      .execute()
    await ensureDefaults(tx, [userId], { notFirst: teamId })
  })
}

/**
 * Ends a membership. If the team was the default of the user, the oldest other one becomes it.
 *
 * @throws AppError `not_found`
 */
export async function removeMember(database: Database, { teamId, userId }: Membership): Promise<void> {
  await database.transaction(async (tx) => {
    await requireUser(tx, userId)
    const { numDeletedRows } = await tx
      .deleteFrom('team_member')
      .where('team_id', '=', teamId)
      .where('user_id', '=', userId)
      .executeTakeFirst()
    if (numDeletedRows === 0n) throw new AppError('not_found', 'The user is not a member of the team')
    await ensureDefaults(tx, [userId], { notFirst: teamId })
  })
}

/** @throws AppError `not_found` */
async function requireUser(tx: Tx, userId: string): Promise<void> {
  if ((await lockUsers(tx, [userId])) === 0) throw userNotFound()
}

/** Changes of the memberships of a user come one after the other. Returns how many of the users exist. */
export async function lockUsers(tx: Tx, userIds: readonly string[]): Promise<number> {
  const users = tx
    .selectFrom('app_user')
    .select('id')
    .where('id', '=', sql<string>`any(${userIds}::uuid[])`)
  return (await users.orderBy('id').forNoKeyUpdate().execute()).length
}

/**
 * Gives each user who has teams and no default one the oldest membership as the default. The caller has locked the users.
 *
 * @param options.notFirst - the team that becomes the default only if it is the only one
 */
export async function ensureDefaults(tx: Tx, userIds: readonly string[], { notFirst }: { readonly notFirst: string }): Promise<void> {
  await sql`
    update team_member set is_default = true
    from (
      select distinct on (user_id) user_id, team_id from team_member
      where user_id = any(${userIds}::uuid[])
      order by user_id, team_id = ${notFirst}, created_at, team_id
    ) as chosen
    where team_member.user_id = chosen.user_id and team_member.team_id = chosen.team_id
      and not exists (select from team_member as other where other.user_id = chosen.user_id and other.is_default)
  `.execute(tx)
}
