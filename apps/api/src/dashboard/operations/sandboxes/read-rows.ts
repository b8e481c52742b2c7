import { sql } from 'kysely'
import type {
  EndView,
  ListSandboxesQuery,
  SandboxCounts,
  SandboxDetail,
  SandboxFilter,
  SandboxList,
  SandboxRow,
} from '@sandyard/dashboard-contract/sandboxes'
import type { Db } from '@sandyard/db/database'
import type { StoredNetwork, StoredVolumeMount } from '@sandyard/db/schema/sandbox'
import type { SandboxLimits } from '../../../sandboxes/sandbox-limits.ts'
import { isPublic } from '../../../sandboxes/network/stored-network.ts'
import { limitsOf } from '../../../teams/team-limits.ts'
import type { Team } from '../../../teams/team.ts'
import { viewActors, type StoredActor } from '../actor-views.ts'
import { limitOf, readCursor, takePage } from '../page-cursor.ts'
import { endText } from './end-text.ts'
import { forkOf, matchingSandboxes, pageOf, type ListedRow } from './sandbox-sql.ts'

/** How many matching ones are counted. */
const MAX_COUNTED = 10_000

/** A page of the sandboxes of a team, in at most three queries. @throws AppError `invalid_argument` for a wrong cursor or filter */
async function readSandboxRows(
  db: Db,
  teamId: string,
  query: ListSandboxesQuery,
): Promise<{ rows: SandboxRow[]; nextCursor: string | null }> {
  const limit = limitOf(query)
  const paged = pageOf(matchingSandboxes(teamId, query), { order: query.order, after: readCursor(query.cursor), limit: limit + 1 })
  const { rows } = await paged.execute(db)
  const { page, nextCursor } = takePage(rows, limit, ({ sort_key, sandbox_id }) => ({ key: sort_key, id: sandbox_id }))
  const view = await viewActors(
    db,
    page.flatMap(({ created_by, end_actor }) => [created_by, end_actor]),
  )
  return { rows: page.map((row) => toRow(row, view)), nextCursor }
}

/** How many match; at most 10,000 are counted. */
async function countMatching(db: Db, teamId: string, filter: SandboxFilter): Promise<number> {
  const { rows } = await sql<{
    count: number
  }>`select count(*)::int as count from (${matchingSandboxes(teamId, filter)} limit ${MAX_COUNTED}) as matching`.execute(db)
  return rows[0]?.count ?? 0
}

/** Of a team, by state, and its limit. */
export async function countStates(db: Db, { id, limits }: Team, defaults: SandboxLimits): Promise<SandboxCounts> {
  const { rows } = await sql<Omit<SandboxCounts, 'limit'>>`
    select (count(*) filter (where state in ('running', 'snapshotting')))::int as running,
      (count(*) filter (where state in ('pausing', 'paused', 'resuming')))::int as paused,
      (count(*) filter (where state = 'starting'))::int as starting
    from sandbox where team_id = ${id}
  `.execute(db)
  return { running: 0, paused: 0, starting: 0, ...rows[0], limit: limitsOf(defaults, limits).concurrentSandboxes }
}

/** The whole answer of the list. */
export async function readSandboxList(
  db: Db,
  { team, query, limits }: { readonly team: Team; readonly query: ListSandboxesQuery; readonly limits: SandboxLimits },
): Promise<SandboxList> {
  const [{ rows, nextCursor }, matching, counts] = await Promise.all([
    readSandboxRows(db, team.id, query),
    countMatching(db, team.id, query),
    countStates(db, team, limits),
  ])
  return { data: rows, nextCursor, matching, counts }
}

interface DetailRow extends ListedRow {
  readonly is_secure: boolean | null
  readonly allow_internet_access: boolean | null
  readonly network: StoredNetwork | null
  readonly volume_mounts: readonly StoredVolumeMount[] | null
  readonly parent_sandbox_id: string | null
  readonly fork_of: string | null
  readonly template_source: 'template' | 'snapshot' | 'snapshot_template' | null
  readonly is_running: boolean
}

/** Undefined for those of other teams, and for ended ones that are no longer kept. */
export async function readSandboxDetail(
  db: Db,
  teamId: string,
  sandboxId: string,
  { historyMs }: { readonly historyMs: number },
): Promise<SandboxDetail | undefined> {
  const { rows } = await sql<DetailRow>`
    select found.*, build.cpu_count, build.memory_mib, build.disk_mib, build.source_sandbox_id as parent_sandbox_id, '' as sort_key,
      ${forkOf(sql`found.sandbox_id`)} as fork_of,
      coalesce((
        select case when namespace is null then alias else namespace || '/' || alias end
        from template_alias where template_alias.template_id = found.template_id order by created_at, alias limit 1
      ), found.template_id) as template_name,
      (select data -> 'actor' from event where subject = found.sandbox_id order by event_id limit 1) as created_by,
      (select source from template where template.template_id = found.template_id) as template_source
    from (
      select sandbox_id, case state when 'killing' then 'ending' when 'starting' then 'starting' when 'running' then 'running'
          when 'snapshotting' then 'running' else 'paused' end as list_state,
        alias, template_id, build_id, started_at, case when state in ('running', 'snapshotting') then expires_at end as expires_at, auto_pause, metadata,
        null::timestamptz as ended_at, null::text as end_reason, null::jsonb as end_actor, is_secure, allow_internet_access, network, volume_mounts,
        state = 'running' as is_running
      from sandbox where sandbox_id = ${sandboxId} and team_id = ${teamId}
      union all
      select sandbox_id, 'ended', alias, template_id, build_id, started_at, null, false, metadata, ended_at, reason, end_actor, null, null, null, null, false
      from sandbox_history where sandbox_id = ${sandboxId} and team_id = ${teamId}
    ) as found join build using (build_id) limit 1
  `.execute(db)
  const [row] = rows
  if (row === undefined) return undefined
  const view = await viewActors(db, [row.created_by, row.end_actor])
  const network = row.network ?? {}
  return {
    ...toRow(row, view),
    isSecure: row.is_secure ?? true,
    network: {
      allowInternetAccess: row.allow_internet_access !== false && network.denyInternet !== true,
      allowPublicTraffic: isPublic(network),
      allowOut: network.allowOut ?? [],
      denyOut: network.denyOut ?? [],
      dnsServers: network.dnsServers ?? [],
      proxyAddress: network.egressProxy?.address ?? null,
      rules: Object.entries(network.rules ?? {}).map(([host, { headers }]) => ({ host, headerNames: Object.keys(headers) })),
    },
    ports: [],
    parent: toParent(row),
    volumes: (row.volume_mounts ?? []).map(({ name, path, readOnly = false }) => ({ name, path, isReadOnly: readOnly })),
    keptUntil: row.ended_at === null ? null : new Date(row.ended_at.getTime() + historyMs).toISOString(),
    isReachable: row.is_running,
  }
}

function toRow(row: ListedRow, view: (actor: StoredActor) => SandboxRow['createdBy']): SandboxRow {
  return {
    sandboxId: row.sandbox_id,
    state: row.list_state,
    alias: row.alias,
    templateId: row.template_id,
    templateName: row.template_name,
    buildId: row.build_id,
    cpuCount: row.cpu_count,
    memoryMib: row.memory_mib,
    diskMib: row.disk_mib,
    startedAt: row.started_at?.toISOString() ?? null,
    endsAt: row.expires_at?.toISOString() ?? null,
    pausesAtEnd: row.auto_pause,
    metadata: row.metadata,
    createdBy: view(row.created_by),
    end: toEnd(row, view),
  }
}

/** A fork comes from a snapshot without a name. */
function toParent({ parent_sandbox_id: sourceId, fork_of, template_id, template_source }: DetailRow): SandboxDetail['parent'] {
  if (fork_of !== null) return { kind: 'fork', id: fork_of }
  if (template_source === 'snapshot_template') return { kind: 'snapshot', id: template_id }
  return template_source === 'snapshot' && sourceId !== null ? { kind: 'fork', id: sourceId } : null
}

function toEnd({ ended_at, end_reason, end_actor }: ListedRow, view: (actor: StoredActor) => EndView['actor']): EndView | null {
  if (ended_at === null) return null
  const actor = view(end_actor)
  const reason = end_reason ?? 'killed'
  return { at: ended_at.toISOString(), reason, text: endText(reason, actor), actor }
}
