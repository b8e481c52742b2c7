import type { Selectable } from 'kysely'
import type { KeyScope } from '@sandyard/api-contract/credentials/api-key'
import type { Db } from '@sandyard/db/database'
import type { TeamTable } from '@sandyard/db/schema/team'
import type { Team, User } from '../teams/team.ts'
import { LIMIT_COLUMNS, toOwnLimits } from '../teams/team-limits.ts'

const TEAM = ['team.id', 'team.name', 'team.slug', 'team.is_banned', 'team.is_blocked', 'team.blocked_reason', ...LIMIT_COLUMNS] as const

export interface ApiKeyHolder {
  readonly apiKeyId: string
  readonly team: Team
  /** The user who created the key; undefined after the deletion of the user. */
  readonly user: User | undefined
  readonly expiresAt: Date | undefined
  readonly scope: KeyScope | undefined
}

export async function findHolderOfApiKey(db: Db, hash: string): Promise<ApiKeyHolder | undefined> {
  const row = await db
    .selectFrom('api_key')
    .innerJoin('team', 'team.id', 'api_key.team_id')
    .leftJoin('app_user', 'app_user.id', 'api_key.created_by')
    .select(TEAM)
    .select(['api_key.id as api_key_id', 'api_key.expires_at', 'api_key.scope', 'app_user.id as user_id', 'app_user.email as user_email'])
    .where('api_key.hash', '=', hash)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { user_id: id, user_email: email } = row
  return {
    apiKeyId: row.api_key_id,
    team: toTeam(row),
    user: id === null || email === null ? undefined : { id, email },
    expiresAt: row.expires_at ?? undefined,
    scope: row.scope ?? undefined,
  }
}

export interface AccessTokenHolder {
  readonly accessTokenId: string
  readonly user: User
  readonly expiresAt: Date | undefined
}

export async function findHolderOfAccessToken(db: Db, hash: string): Promise<AccessTokenHolder | undefined> {
  const row = await db
    .selectFrom('access_token')
    .innerJoin('app_user', 'app_user.id', 'access_token.user_id')
    .select(['access_token.id as access_token_id', 'access_token.expires_at', 'app_user.id', 'app_user.email'])
    .where('access_token.hash', '=', hash)
    .executeTakeFirst()
  return row && { accessTokenId: row.access_token_id, user: { id: row.id, email: row.email }, expiresAt: row.expires_at ?? undefined }
}

export async function findTeam(db: Db, teamId: string): Promise<Team | undefined> {
  const row = await db.selectFrom('team').select(TEAM).where('team.id', '=', teamId).executeTakeFirst()
  return row && toTeam(row)
}

/** The team, if the user is a member of it. */
export async function findTeamOfMember(db: Db, teamId: string, userId: string): Promise<Team | undefined> {
  const row = await db
    .selectFrom('team')
    .innerJoin('team_member', 'team_member.team_id', 'team.id')
    .select(TEAM)
    .where('team.id', '=', teamId)
    .where('team_member.user_id', '=', userId)
    .executeTakeFirst()
  return row && toTeam(row)
}

/** The team of a user for requests that name no team. */
export async function findDefaultTeam(db: Db, userId: string): Promise<Team | undefined> {
  const row = await db
    .selectFrom('team')
    .innerJoin('team_member', 'team_member.team_id', 'team.id')
    .select(TEAM)
    .where('team_member.user_id', '=', userId)
    .where('team_member.is_default', '=', true)
    .executeTakeFirst()
  return row && toTeam(row)
}

export async function hasTeams(db: Db, userId: string): Promise<boolean> {
  const row = await db.selectFrom('team_member').select('team_id').where('user_id', '=', userId).limit(1).executeTakeFirst()
  return row !== undefined
}

/** Writes at most once a minute for each key, over all servers (control-plane.md 1.7). */
export async function touchApiKey(db: Db, apiKeyId: string): Promise<void> {
  await db
    .updateTable('api_key')
    .set((eb) => ({ last_used_at: eb.fn<Date>('now') }))
    .where('id', '=', apiKeyId)
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', new Date(Date.now() - 60_000))]))
    .execute()
}

type TeamRow = Omit<Selectable<TeamTable>, 'email' | 'created_at' | 'creates_used' | 'creates_counted_at'>

function toTeam(row: TeamRow): Team {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    isBanned: row.is_banned,
    isBlocked: row.is_blocked,
    blockedReason: row.blocked_reason ?? undefined,
    limits: toOwnLimits(row),
  }
}
