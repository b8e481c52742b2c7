import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { secondsAgo, statementTime } from '@sandyard/db/statement-time'
import { SESSION_IDLE_MS, SESSION_MAX_MS } from '@sandyard/dashboard-contract/limits'
import { findTeam } from '../../auth/auth-queries.ts'
import type { Principal } from '../../auth/principal.ts'
import type { SchemeParts } from '../../auth/schemes.ts'
import type { Team } from '../../teams/team.ts'
import { adminMark } from './admin-mark.ts'
import type { DashboardSession } from './dashboard-session.ts'

/** The admin token says which operators' logins may still be used. */
export type SessionParts = Pick<SchemeParts, 'database' | 'adminToken'>

const TOKEN_BYTES = 32
/** `used_at` is written at most this often. */
const TOUCH_SECONDS = 60

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

export interface NewSession {
  readonly role: DashboardSession['role']
  readonly apiKeyId?: string
  /** The team that an operator begins with. */
  readonly teamId?: string | undefined
}

/** @returns the token for the cookie, which is not stored */
export async function insertSession(
  { database, adminToken }: SessionParts,
  { role, apiKeyId, teamId }: NewSession,
): Promise<{ sessionId: string; token: string }> {
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const { session_id: sessionId } = await database.db
    .insertInto('dashboard_session')
    .values({
      token_hash: hashToken(token),
      role,
      api_key_id: apiKeyId ?? null,
      team_id: teamId ?? null,
      admin_mark: role === 'operator' ? await adminMark(adminToken) : null,
      expires_at: sql<Date>`statement_timestamp() + make_interval(secs => ${SESSION_MAX_MS / 1000})`,
    })
    .returning('session_id')
    .executeTakeFirstOrThrow()
  return { sessionId, token }
}

/** The sessions with one of the tokens that may still be used. */
export async function findSessions({ database, adminToken }: SessionParts, tokens: readonly string[]): Promise<DashboardSession[]> {
  if (tokens.length === 0) return []
  const { db } = database
  const rows = await sessionRows(db, await adminMark(adminToken))
    .where('dashboard_session.token_hash', 'in', tokens.map(hashToken))
    .execute()
  const found = await Promise.all(rows.map((row) => toSession(db, row)))
  return found.filter((session) => session !== undefined)
}

/** Undefined: it has ended. Live sockets ask again with this. */
export async function findSession({ database, adminToken }: SessionParts, sessionId: string): Promise<DashboardSession | undefined> {
  const { db } = database
  const row = await sessionRows(db, await adminMark(adminToken))
    .where('dashboard_session.session_id', '=', sessionId)
    .executeTakeFirst()
  return row && toSession(db, row)
}

export async function touchSession(db: Db, sessionId: string): Promise<void> {
  await db
    .updateTable('dashboard_session')
    .set({ used_at: statementTime() })
    .where('session_id', '=', sessionId)
    .where('used_at', '<', secondsAgo(TOUCH_SECONDS))
    .execute()
}

/** A trigger tells the live sockets of every server. */
export async function deleteSession(db: Db, sessionId: string): Promise<void> {
  await db.deleteFrom('dashboard_session').where('session_id', '=', sessionId).execute()
}

/** A trigger tells the live sockets of every server, which show the former team. */
export async function setSessionTeam(db: Db, sessionId: string, teamId: string): Promise<void> {
  await db.updateTable('dashboard_session').set({ team_id: teamId }).where('session_id', '=', sessionId).execute()
}

/** The team that an operator begins with: the oldest. */
export async function findFirstTeam(db: Db): Promise<Team | undefined> {
  const row = await db.selectFrom('team').select('id').orderBy('created_at').orderBy('id').limit(1).executeTakeFirst()
  return row && findTeam(db, row.id)
}

type Row = Awaited<ReturnType<ReturnType<typeof sessionRows>['execute']>>[number]

function sessionRows(db: Db, mark: Buffer | null) {
  return db
    .selectFrom('dashboard_session')
    .leftJoin('api_key', 'api_key.id', 'dashboard_session.api_key_id')
    .leftJoin('app_user', 'app_user.id', 'api_key.created_by')
    .select([
      'dashboard_session.session_id',
      'dashboard_session.role',
      'dashboard_session.team_id',
      'dashboard_session.expires_at',
      'dashboard_session.used_at',
      'api_key.id as key_id',
      'api_key.name as key_name',
      'api_key.team_id as key_team_id',
      'api_key.scope',
      'api_key.expires_at as key_expires_at',
      'app_user.id as user_id',
      'app_user.email as user_email',
    ])
    .where('dashboard_session.expires_at', '>', statementTime())
    .where('dashboard_session.used_at', '>', secondsAgo(SESSION_IDLE_MS / 1000))
    .where((eb) =>
      eb.or([eb('dashboard_session.role', '=', 'developer'), eb('dashboard_session.admin_mark', 'is not distinct from', mark)]),
    )
    .where((eb) => eb.or([eb('api_key.expires_at', 'is', null), eb('api_key.expires_at', '>', statementTime())]))
}

async function toSession(db: Db, row: Row): Promise<DashboardSession | undefined> {
  return row.role === 'operator' ? toOperator(db, row) : toDeveloper(db, row)
}

async function toDeveloper(db: Db, row: Row): Promise<DashboardSession | undefined> {
  const { key_id: apiKeyId, key_team_id: teamId, user_id: id, user_email: email } = row
  const team = teamId === null ? undefined : await findTeam(db, teamId)
  if (apiKeyId === null || team === undefined || team.isBanned) return undefined
  const principal: Principal = {
    via: 'api_key',
    team,
    apiKeyId,
    user: id === null || email === null ? undefined : { id, email },
    scope: row.scope ?? undefined,
    expiresAt: row.key_expires_at ?? undefined,
    dashboardSessionId: row.session_id,
  }
  return {
    sessionId: row.session_id,
    role: 'developer',
    team,
    principal,
    key: { id: apiKeyId, name: row.key_name ?? '' },
    expiresAt: row.expires_at,
    usedAt: row.used_at,
  }
}

/** An operator is not locked out by what happens to the chosen team. */
async function toOperator(db: Db, row: Row): Promise<DashboardSession> {
  const chosen = row.team_id === null ? undefined : await findTeam(db, row.team_id)
  const team = chosen ?? (await findFirstTeam(db))
  const dashboardSessionId = row.session_id
  return {
    sessionId: row.session_id,
    role: 'operator',
    team,
    principal: team === undefined ? { via: 'admin', dashboardSessionId } : { via: 'admin_team', team, dashboardSessionId },
    key: undefined,
    expiresAt: row.expires_at,
    usedAt: row.used_at,
  }
}
