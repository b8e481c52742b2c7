import type { Me, ServerInfo, SessionTeam } from '@sandyard/dashboard-contract/session'
import type { Db } from '@sandyard/db/database'
import { RELEASE } from '@sandyard/kit/config/release'
import type { AppContext } from '../../context.ts'
import { limitsOf } from '../../teams/team-limits.ts'
import type { Team } from '../../teams/team.ts'
import type { DashboardSession } from './dashboard-session.ts'

const MAX_TEAMS = 200

type Parts = Pick<AppContext, 'database' | 'config' | 'runtime'>

/** @param origin - by which the browser knows this server */
export async function toMe({ database, config, runtime }: Parts, session: DashboardSession, origin: string): Promise<Me> {
  const { role, team, key, principal, expiresAt } = session
  return {
    role,
    team: team === undefined ? null : toSessionTeam(team),
    teams: role === 'operator' ? await listTeams(database.db) : team === undefined ? [] : [toSessionTeam(team)],
    key: key === undefined ? null : { ...key, isReadOnly: principal.scope !== undefined },
    expiresAt: expiresAt.toISOString(),
    server: toServerInfo({ config, runtime }, team, origin),
  }
}

function toSessionTeam({ id: teamId, name, slug, isBlocked, blockedReason }: Team): SessionTeam {
  return { teamId, name, slug, isBlocked, blockedReason: blockedReason ?? null }
}

async function listTeams(db: Db): Promise<SessionTeam[]> {
  const rows = await db
    .selectFrom('team')
    .select(['id', 'name', 'slug', 'is_blocked', 'blocked_reason'])
    .orderBy('name')
    .orderBy('id')
    .limit(MAX_TEAMS)
    .execute()
  return rows.map(({ id, name, slug, is_blocked, blocked_reason }) => {
    return { teamId: id, name, slug, isBlocked: is_blocked, blockedReason: blocked_reason }
  })
}

function toServerInfo({ config, runtime }: Omit<Parts, 'database'>, team: Team | undefined, origin: string): ServerInfo {
  const can = runtime.capabilities()
  const scheme = origin.startsWith('https:') ? 'https' : 'http'
  return {
    version: RELEASE,
    apiUrl: config.builds.apiUrl ?? origin,
    sandboxUrl: `${scheme}://${config.domain}`,
    domain: config.domain,
    hasMemoryPause: can.pause === 'memory',
    hasSecrets: config.keyRing !== undefined,
    hasEgressGateway: can.egressGateway !== undefined,
    hasVolumes: can.mounts,
    maxLifetimeSeconds: limitsOf(config.limits, team?.limits ?? {}).maxLifetimeSeconds,
  }
}
