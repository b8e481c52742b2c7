import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { SESSION_IDLE_MS } from '@sandyard/dashboard-contract/limits'

/** What may change about a session while its socket is open. */
export interface SessionState {
  readonly teamId: string | null
  readonly isBlocked: boolean
  readonly blockedReason: string | null
}

/** The sessions of these ids that are still valid. */
export async function readSessions(db: Db, sessionIds: readonly string[]): Promise<Map<string, SessionState>> {
  const rows = await db
    .selectFrom('dashboard_session as session')
    .leftJoin('team', 'team.id', 'session.team_id')
    .leftJoin('api_key', 'api_key.id', 'session.api_key_id')
    .select(['session.session_id', 'session.team_id', 'team.is_blocked', 'team.blocked_reason'])
    .where('session.session_id', 'in', sessionIds)
    .where('session.expires_at', '>', sql<Date>`clock_timestamp()`)
    .where('session.used_at', '>', sql<Date>`clock_timestamp() - make_interval(secs => ${SESSION_IDLE_MS / 1000})`)
    .where((eb) => eb.or([eb('team.is_banned', 'is', null), eb('team.is_banned', '=', false), eb('session.role', '=', 'operator')]))
    .where((eb) => eb.or([eb('api_key.expires_at', 'is', null), eb('api_key.expires_at', '>', sql<Date>`clock_timestamp()`)]))
    .execute()
  return new Map(
    rows.map(({ session_id, team_id, is_blocked, blocked_reason }) => [
      session_id,
      { teamId: team_id, isBlocked: is_blocked === true, blockedReason: blocked_reason },
    ]),
  )
}

/** Typing in a terminal is use too. */
export async function touchSessions(db: Db, sessionIds: readonly string[]): Promise<void> {
  await db
    .updateTable('dashboard_session')
    .set({ used_at: sql<Date>`clock_timestamp()` })
    .where('session_id', 'in', sessionIds)
    .execute()
}
