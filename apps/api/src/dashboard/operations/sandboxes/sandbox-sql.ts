import { sql, type RawBuilder } from 'kysely'
import type { ListSandboxesQuery, ListState, SandboxFilter } from '@sandyard/dashboard-contract/sandboxes'
import type { SandboxState } from '@sandyard/db/schema/sandbox'
import { parseMetadataFilter } from '../../../sandboxes/read/metadata-filter.ts'
import type { StoredActor } from '../actor-views.ts'
import type { Place } from '../page-cursor.ts'

/** A sandbox that lives or has ended. */
export interface ListedRow {
  readonly sandbox_id: string
  readonly list_state: ListState
  readonly alias: string | null
  readonly template_id: string
  readonly template_name: string
  readonly build_id: string
  readonly cpu_count: number
  readonly memory_mib: number
  readonly disk_mib: number
  readonly started_at: Date | null
  readonly expires_at: Date | null
  readonly auto_pause: boolean
  readonly metadata: Readonly<Record<string, string>>
  readonly created_by: StoredActor
  readonly ended_at: Date | null
  readonly end_reason: string | null
  readonly end_actor: StoredActor
  readonly sort_key: string
}

/** Ended sandboxes of a team that a list looks through, the last ones. Older ones are opened by their id. */
const MAX_ENDED = 10_000

const LIST_STATE: Readonly<Record<SandboxState, ListState>> = {
  starting: 'starting',
  running: 'running',
  snapshotting: 'running',
  pausing: 'paused',
  paused: 'paused',
  resuming: 'paused',
  killing: 'ending',
}
const DEFAULT_STATES: readonly ListState[] = ['running', 'paused', 'starting', 'ending']

const TEMPLATE_NAME = sql`coalesce((
  select case when namespace is null then alias else namespace || '/' || alias end
  from template_alias where template_alias.template_id = found.template_id order by created_at, alias limit 1
), found.template_id)`
const CREATED_BY = sql`(select data -> 'actor' from event where subject = found.sandbox_id order by event_id limit 1)`

const text = (time: RawBuilder<unknown>): RawBuilder<string> =>
  sql<string>`coalesce(to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS'), '')`

const SORT_KEYS: Readonly<Record<NonNullable<ListSandboxesQuery['sort']>, RawBuilder<string>>> = {
  started: text(sql`coalesce(started_at, created_at)`),
  expires: text(sql`expires_at`),
  ended: text(sql`ended_at`),
  template: sql<string>`lower(template_name)`,
  state: sql<string>`list_state`,
}

/** The sandboxes of a team that match, with their sort keys. */
export function matchingSandboxes(teamId: string, query: ListSandboxesQuery): RawBuilder<ListedRow> {
  const states = statesOf(query)
  const stored = Object.entries(LIST_STATE).flatMap(([state, list]) => (states.includes(list) ? [state] : []))
  const cases = sql.join(
    Object.entries(LIST_STATE).map(([state, list]) => sql`when ${sql.lit(state)} then ${sql.lit(list)}`),
    sql` `,
  )
  const live = sql`
    select sandbox_id, case state ${cases} end as list_state, alias, template_id, build_id, created_at, started_at,
      case when state in ('running', 'snapshotting') then expires_at end as expires_at, auto_pause, metadata,
      null::timestamptz as ended_at, null::text as end_reason, null::jsonb as end_actor
    from sandbox where team_id = ${teamId} and state = any(${stored}::text[])`
  const ended = sql`
    (select sandbox_id, 'ended' as list_state, alias, template_id, build_id, created_at, started_at,
      null::timestamptz as expires_at, false as auto_pause, metadata, ended_at, reason as end_reason, end_actor
    from sandbox_history where team_id = ${teamId} order by ended_at desc limit ${MAX_ENDED})`
  const sources = states.includes('ended') ? sql`${live} union all ${ended}` : live
  const sort = query.sort ?? 'started'
  return sql<ListedRow>`
    select *, (${SORT_KEYS[sort]}) collate "C" as sort_key from (
      select found.*, build.cpu_count, build.memory_mib, build.disk_mib, ${TEMPLATE_NAME} as template_name
      from (${sources}) as found join build using (build_id)
    ) as named where ${sql.join(conditionsOf(query), sql` and `)}`
}

/** One page, with the actors of the creates, which are read for its rows only. */
export function pageOf(
  matching: RawBuilder<ListedRow>,
  { order = 'desc', after, limit }: { order?: 'asc' | 'desc' | undefined; after: Place | undefined; limit: number },
): RawBuilder<ListedRow> {
  const [comparison, direction] = order === 'asc' ? [sql`>`, sql`asc`] : [sql`<`, sql`desc`]
  const place =
    after === undefined ? sql`true` : sql`(sort_key, sandbox_id) ${comparison} (${after.key} collate "C", ${after.id} collate "C")`
  return sql<ListedRow>`
    select found.*, ${CREATED_BY} as created_by from (
      select * from (${matching}) as matching where ${place}
      order by sort_key ${direction}, sandbox_id collate "C" ${direction} limit ${limit}
    ) as found order by sort_key ${direction}, sandbox_id collate "C" ${direction}`
}

function statesOf({ state }: SandboxFilter): readonly ListState[] {
  return state === undefined ? DEFAULT_STATES : (state.split(',') as ListState[])
}

function conditionsOf(filter: SandboxFilter): RawBuilder<unknown>[] {
  const { search, template, metadata, startedAfter, startedBefore, keyId, minCpu, minMemoryMib } = filter
  const conditions = [sql`true`]
  if (search !== undefined && search.trim() !== '') conditions.push(toSearch(search.trim().replaceAll('\0', '')))
  if (template !== undefined) {
    const name = template.replaceAll('\0', '')
    conditions.push(sql`(template_id = ${name} or template_name = ${name} or split_part(template_name, '/', 2) = ${name})`)
  }
  if (metadata !== undefined) conditions.push(sql`metadata @> ${JSON.stringify(parseMetadataFilter(metadata))}::jsonb`)
  if (startedAfter !== undefined) conditions.push(sql`started_at >= ${startedAfter}::timestamptz`)
  if (startedBefore !== undefined) conditions.push(sql`started_at <= ${startedBefore}::timestamptz`)
  if (keyId !== undefined) {
    conditions.push(
      sql`(select data -> 'actor' ->> 'keyId' from event where subject = sandbox_id order by event_id limit 1) = ${keyId.toLowerCase()}`,
    )
  }
  if (minCpu !== undefined) conditions.push(sql`cpu_count >= ${minCpu}`)
  if (minMemoryMib !== undefined) conditions.push(sql`memory_mib >= ${minMemoryMib}`)
  return conditions
}

/** The sandbox of which this one is a fork, or null. Its first event has it. */
export function forkOf(sandboxId: RawBuilder<unknown>): RawBuilder<string | null> {
  return sql`(select data ->> 'forkOf' from event where subject = ${sandboxId} order by event_id limit 1)`
}

/** `key=value` is one pair of metadata; else a part of an id or a name, in any case. */
function toSearch(search: string): RawBuilder<unknown> {
  const [key = '', ...values] = search.split('=')
  if (values.length > 0) return sql`metadata @> ${JSON.stringify({ [key]: values.join('=') })}::jsonb`
  const pattern = `%${search.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
  return sql`(sandbox_id ilike ${pattern} or alias ilike ${pattern} or template_name ilike ${pattern})`
}
