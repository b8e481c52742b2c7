import { sql, type RawBuilder } from 'kysely'
import type { LimitUse, ListTeamsQuery, TeamDetail, TeamRow } from '@sandyard/dashboard-contract/teams'
import type { Db } from '@sandyard/db/database'
import { UNFINISHED_BUILD_STATUSES } from '@sandyard/db/schema/build'
import { WIRE_LIMITS, type SettingLimits } from '../../../administration/admin-views.ts'
import { RUNNING_STATES } from '../../../sandboxes/running-states.ts'
import { countKept } from '../../../teams/kept-counts.ts'
import { listMembers } from '../../../teams/members.ts'
import { countStored } from '../../../teams/stored-bytes.ts'
import { LIMIT_NAMES, toOwnLimits, type LimitName } from '../../../teams/team-limits.ts'
import type { TeamRow as StoredTeam } from '../../../teams/team-rows.ts'
import { limitOf, readCursor, takePage } from '../page-cursor.ts'
import { containing, sortableTime } from '../row-texts.ts'

const MAX_MEMBERS = 200

const UNITS: Readonly<Record<LimitName, LimitUse['unit']>> = {
  concurrentSandboxes: 'count',
  maxPausedSandboxes: 'count',
  maxLifetimeSeconds: 'seconds',
  createsPerMinute: 'count',
  createBurst: 'count',
  maxSnapshots: 'count',
  maxTemplates: 'count',
  concurrentBuilds: 'count',
  maxCpuCount: 'count',
  maxMemoryMib: 'mib',
  maxDiskMib: 'mib',
  maxStoredBytes: 'bytes',
}

interface CountedTeam extends StoredTeam {
  readonly running: number
  readonly paused: number
  readonly sort_key: string
}

interface TeamParts {
  readonly db: Db
  /** The limits of teams that have none of their own. */
  readonly settings: SettingLimits
  /** The only team that is shown; undefined: all. */
  readonly only: string | undefined
}

/** Teams, newest first. @throws AppError `invalid_argument` for a wrong cursor */
export async function readTeamRows(
  { db, settings, only }: TeamParts,
  query: ListTeamsQuery,
): Promise<{ data: TeamRow[]; nextCursor: string | null }> {
  const limit = limitOf(query)
  const after = readCursor(query.cursor)
  const conditions = [sql`true`]
  if (only !== undefined) conditions.push(sql`team.id = ${only}`)
  if (after !== undefined) conditions.push(sql`(${sortableTime(sql`team.created_at`)}, team.id::text) < (${after.key}, ${after.id})`)
  if (query.search !== undefined) {
    const text = containing(query.search)
    conditions.push(sql`(team.name ilike ${text} or team.slug ilike ${text} or team.email ilike ${text})`)
  }
  const { rows } = await selectTeams(
    sql`${sql.join(conditions, sql` and `)} order by team.created_at desc, team.id::text desc limit ${limit + 1}`,
  ).execute(db)
  const { page, nextCursor } = takePage(rows, limit, ({ sort_key, id }) => ({ key: sort_key, id }))
  return { data: page.map((row) => toRow(row, settings)), nextCursor }
}

/** Undefined for a team that is not shown. */
export async function readTeamDetail({ db, settings, only }: TeamParts, givenId: string): Promise<TeamDetail | undefined> {
  const teamId = givenId.toLowerCase()
  if (only !== undefined && only !== teamId) return undefined
  const [team] = (await selectTeams(sql`team.id = ${teamId}`).execute(db)).rows
  if (team === undefined) return undefined
  const own = toOwnLimits(team)
  const used: Readonly<Partial<Record<LimitName, number>>> = {
    concurrentSandboxes: team.running,
    ...(await countKept(db, teamId)),
    concurrentBuilds: await countBuilds(db, teamId),
    maxStoredBytes: await countStored(db, teamId),
  }
  const members = await listMembers(db, teamId, { limit: MAX_MEMBERS, after: undefined })
  return {
    ...toRow(team, settings),
    email: team.email,
    limits: LIMIT_NAMES.map((name) => ({
      name: WIRE_LIMITS[name],
      limit: own[name] ?? settings[name] ?? null,
      used: used[name] ?? null,
      unit: UNITS[name],
      isOwn: own[name] !== undefined,
    })),
    members: members.slice(0, MAX_MEMBERS).map(({ user_id: userId, email, is_default: isDefault, created_at: since }) => {
      return { userId, email, isDefault, since: since.toISOString() }
    }),
  }
}

function selectTeams(rest: RawBuilder<unknown>): RawBuilder<CountedTeam> {
  const sandboxes = sql`select count(*)::int from sandbox where sandbox.team_id = team.id`
  return sql<CountedTeam>`
    select team.*, ${sortableTime(sql`team.created_at`)} as sort_key,
      (${sandboxes} and state in (${sql.join(RUNNING_STATES)})) as running, (${sandboxes} and state = 'paused') as paused
    from team where ${rest}`
}

async function countBuilds(db: Db, teamId: string): Promise<number> {
  const { count } = await db
    .selectFrom('build')
    .innerJoin('template', 'template.template_id', 'build.template_id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('template.team_id', '=', teamId)
    .where('build.status', 'in', UNFINISHED_BUILD_STATUSES)
    .executeTakeFirstOrThrow()
  return count
}

function toRow(row: CountedTeam, settings: SettingLimits): TeamRow {
  return {
    teamId: row.id,
    name: row.name,
    slug: row.slug,
    isBlocked: row.is_blocked,
    blockedReason: row.blocked_reason,
    isBanned: row.is_banned,
    running: row.running,
    paused: row.paused,
    limit: row.max_sandboxes ?? settings.concurrentSandboxes ?? 0,
    createdAt: row.created_at.toISOString(),
  }
}
