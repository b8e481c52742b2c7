import { sql, type RawBuilder } from 'kysely'
import { LANES, type Lane, type TimelineEntry, type TimelineQuery } from '@sandyard/dashboard-contract/timeline'
import type { Db } from '@sandyard/db/database'
import { parseChoices } from '../../../text/parse-choices.ts'
import { viewActors, type StoredActor } from '../actor-views.ts'
import { actorIn, eventText } from '../event-text.ts'
import { limitOf, readCursor, takePage } from '../page-cursor.ts'
import { sortableTime } from '../row-texts.ts'

/** Entries of a kind that a timeline looks through, the last ones. */
const MAX_SCANNED = 10_000

interface StoredEntry {
  readonly id: string
  readonly lane: Lane
  readonly at: Date
  /** Null with `lasts`: it goes on. */
  readonly ended_at: Date | null
  readonly lasts: boolean
  readonly kind: string
  readonly data: Readonly<Record<string, unknown>>
  readonly recording_id: string | null
  readonly sort_key: string
}

/**
 * A page of what is stored of a sandbox, also of an ended one: its events, of which a run and a pause last until the next one, its
 * commands as its log has them, its recorded terminals and its egress decisions. Files and ports are not stored: their lanes are empty. The caller
 * has checked whose it is.
 *
 * @throws AppError `invalid_argument` for a wrong cursor or lane
 */
export async function readTimeline(
  db: Db,
  { teamId, sandboxId, query }: { readonly teamId: string; readonly sandboxId: string; readonly query: TimelineQuery },
): Promise<{ data: TimelineEntry[]; nextCursor: string | null }> {
  const limit = limitOf(query)
  const after = readCursor(query.cursor)
  const [comparison, direction] = query.order === 'desc' ? [sql`<`, sql`desc`] : [sql`>`, sql`asc`]
  const place =
    after === undefined
      ? sql`true`
      : sql`(sort_key collate "C", id collate "C") ${comparison} (${after.key}::text collate "C", ${after.id}::text collate "C")`
  const { rows } = await sql<StoredEntry>`
    select * from (select entry.*, ${sortableTime(sql`at`)} as sort_key from (${entriesOf(teamId, sandboxId)}) as entry) as placed
    where lane = any(${lanesOf(query.lane)}::text[]) and ${place}
    order by sort_key collate "C" ${direction}, id collate "C" ${direction} limit ${limit + 1}
  `.execute(db)
  const { page, nextCursor } = takePage(rows, limit, ({ sort_key, id }) => ({ key: sort_key, id }))
  const view = await viewActors(
    db,
    page.map(({ data }) => actorIn(data)),
  )
  return { data: page.map((row) => toEntry(row, view)), nextCursor }
}

/** `marks`: kinds that begin or end a run or a pause. Without a later one it goes on. */
function entriesOf(teamId: string, sandboxId: string): RawBuilder<unknown> {
  return sql`
    select 'e' || lpad(event_id::text, 19, '0') as id, case kind when 'sandbox.memory_lost' then 'limit' else 'lifecycle' end as lane,
      created_at as at, case when lasts then lead(created_at) over (partition by marks order by event_id) end as ended_at,
      lasts, kind, data, null::text as recording_id
    from (
      select *, kind in ('sandbox.running', 'sandbox.resumed', 'sandbox.paused') as lasts,
        kind in ('sandbox.running', 'sandbox.resumed', 'sandbox.paused', 'sandbox.killing') as marks
      from event where subject = ${sandboxId} and team_id = ${teamId} order by event_id desc limit ${MAX_SCANNED}
    ) as logged
    union all
    select 'c' || lpad(log_id::text, 19, '0'), 'command', logged_at,
      least(ended_at, (select min(at) from unnest(array(${endsOf(teamId, sandboxId)})) as at where at >= logged_at)), true, 'process.started',
      jsonb_strip_nulls(jsonb_build_object('command', fields->'cmd', 'user', fields->'user', 'pid', fields->'pid', 'exitCode', exit_code)), null
    from (
      select *, lead(logged_at) over of_process as ended_at, (lead(fields) over of_process)->'exitCode' as exit_code
      from (
        select * from sandbox_log where sandbox_id = ${sandboxId} and team_id = ${teamId} and fields->>'logger' = 'process'
        order by logged_at desc, log_id desc limit ${MAX_SCANNED}
      ) as lines
      window of_process as (partition by fields->>'pid' order by logged_at, log_id)
    ) as processes where message = 'Process started'
    union all
    select 't' || recording_id::text, 'terminal', started_at, ended_at, true, 'terminal.recorded',
      jsonb_build_object('title', title, 'isTruncated', is_truncated), recording_id::text
    from (
      select * from terminal_recording where sandbox_id = ${sandboxId} and team_id = ${teamId} order by started_at desc limit ${MAX_SCANNED}
    ) as recorded
    union all
    select 'n' || lpad(egress_id::text, 19, '0'), 'net', decided_at, null, false, 'egress.' || verdict,
      jsonb_build_object('rule', rule, 'host', name, 'address', address, 'protocol', protocol, 'port', port, 'connections', connections), null
    from (
      select * from sandbox_egress where sandbox_id = ${sandboxId} and team_id = ${teamId} order by egress_id desc limit ${MAX_SCANNED}
    ) as decided`
}

/** When all processes of a sandbox ended: at its end, and with pauses that kept files only. The last ones. */
function endsOf(teamId: string, sandboxId: string): RawBuilder<unknown> {
  return sql`
    select created_at from event where subject = ${sandboxId} and team_id = ${teamId} and (
      kind in ('sandbox.ended', 'sandbox.memory_lost') or kind = 'sandbox.paused' and data->>'keep' = 'files'
    ) order by event_id desc limit 100`
}

function lanesOf(text: string | undefined): readonly string[] {
  return text === undefined ? LANES : parseChoices(text, 'lane', LANES)
}

function toEntry(row: StoredEntry, view: (actor: StoredActor) => NonNullable<TimelineEntry['actor']>): TimelineEntry {
  const { actor: _actor, exitCode, ...data } = row.data
  const stored = actorIn(row.data)
  return {
    id: row.id,
    lane: row.lane,
    at: row.at.toISOString(),
    ...(row.lasts && { endedAt: row.ended_at?.toISOString() ?? null }),
    kind: row.kind,
    text: textOf(row, view(stored)),
    ...(stored !== null && { actor: view(stored) }),
    ...(exitCode !== undefined && { exitCode: Number(exitCode) }),
    ...(row.recording_id !== null && { recordingId: row.recording_id }),
    ...(Object.keys(data).length > 0 && { data }),
  }
}

function textOf({ lane, kind, data }: StoredEntry, actor: NonNullable<TimelineEntry['actor']>): string {
  // Clients wrap each command in a shell.
  if (lane === 'command') return String(data['command']).replace(/^\/bin\/bash -l -c /, '')
  if (lane === 'terminal') return `Terminal: ${String(data['title'])}${data['isTruncated'] === true ? ', recorded in part' : ''}`
  if (lane !== 'net') return eventText(kind, data, actor)
  const target = `${String(data['host'] ?? data['address'])}:${String(data['port'])}`
  const count = Number(data['connections'])
  return `${kind === 'egress.deny' ? 'Refused' : 'Allowed'}: ${target} (${String(data['protocol'])}, ${count} ${count === 1 ? 'connection' : 'connections'}, rule ${String(data['rule'])})`
}
