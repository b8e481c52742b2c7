import { sql, type Selectable } from 'kysely'
import type { Db } from '@sandyard/db/database'
import type { BuildTable } from '@sandyard/db/schema/build'
import type { SandboxState, SandboxTable } from '@sandyard/db/schema/sandbox'
import { secondsAgo } from '@sandyard/db/statement-time'
import { currentRequestId } from '@sandyard/kit/tracing/scope'
import type { Actor } from '../events/actor.ts'
import { tellOfEvent } from '../events/event-log.ts'

/** A sandbox with the sizes of its build. */
export type SandboxRow = Selectable<SandboxTable> & Pick<Selectable<BuildTable>, 'cpu_count' | 'memory_mib' | 'disk_mib' | 'envd_version'>

/** A sandbox that has started: its times are set. */
export type LiveSandboxRow = SandboxRow & { readonly started_at: Date; readonly expires_at: Date }

export function isLive(row: SandboxRow): row is LiveSandboxRow {
  return row.started_at !== null && row.expires_at !== null
}

export function selectSandboxes(db: Db) {
  return db
    .selectFrom('sandbox')
    .innerJoin('build', 'build.build_id', 'sandbox.build_id')
    .selectAll('sandbox')
    .select(['build.cpu_count', 'build.memory_mib', 'build.disk_mib', 'build.envd_version'])
}

/**
 * A sandbox of the team, in any state. One that a request has killed is absent, although the engine may still be removing it: the request
 * was answered.
 */
export async function findSandbox(db: Db, teamId: string, sandboxId: string): Promise<SandboxRow | undefined> {
  return selectSandboxes(db)
    .where('sandbox_id', '=', sandboxId)
    .where('sandbox.team_id', '=', teamId)
    .where((eb) => eb.or([eb('state', '<>', 'killing'), eb('end_reason', 'is distinct from', 'killed')]))
    .executeTakeFirst()
}

/** How a new end time applies: `set` replaces it, `extend` never shortens it. */
export type EndTimeRule = 'set' | 'extend'

export interface EndTimeChange {
  readonly teamId: string
  readonly sandboxId: string
  /** From now. */
  readonly seconds: number
  readonly rule: EndTimeRule
  /** Cap counted from the start; longer requests are truncated. */
  readonly maxSeconds: number
  readonly actor: Actor
}

/** Changes the end time of a running sandbox, with an event if it differs. False when none runs under this id. */
export async function changeEndTime(db: Db, change: EndTimeChange): Promise<boolean> {
  const { sandboxId, teamId, seconds, maxSeconds, rule, actor } = change
  const asked = sql`least(clock_timestamp() + make_interval(secs => ${seconds}), started_at + make_interval(secs => ${maxSeconds}))`
  const { rows } = await sql<{ sandbox_id: string }>`
    with before as (
      select sandbox_id, team_id, expires_at, ${rule === 'set' ? asked : sql`greatest(expires_at, ${asked})`}::timestamptz(3) as end_at
      from sandbox where sandbox_id = ${sandboxId} and team_id = ${teamId} and state = 'running'
      for update
    ), logged as (
      insert into event (team_id, kind, subject, request_id, data)
      select team_id, 'sandbox.timeout_changed', sandbox_id, ${currentRequestId() ?? null}, jsonb_build_object('actor', ${JSON.stringify(actor)}::jsonb, 'endAt', to_char(end_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      from before where end_at <> expires_at
    ), changed as (
      update sandbox set expires_at = before.end_at from before where sandbox.sandbox_id = before.sandbox_id
      returning sandbox.sandbox_id, sandbox.team_id
    )
    select sandbox_id, ${tellOfEvent('sandbox.timeout_changed', sql`sandbox_id`)} from changed
  `.execute(db)
  return rows.length > 0
}

/** A reservation older than this is abandoned (control-plane.md 3.3). */
export const STALE_START_SECONDS = 90

/** The removal of an ended sandbox that takes longer counts against the limit, so that they cannot pile up. */
const SLOW_KILL_SECONDS = 10
const OCCUPYING: readonly SandboxState[] = ['running', 'pausing', 'resuming', 'snapshotting']

/**
 * SQL condition: the sandbox counts against the limit of its team, as all but paused ones, stale reservations and fresh ends do
 * (control-plane.md 6.2.4).
 */
export const isOccupied = sql<boolean>`(
  state in (${sql.join(OCCUPYING)})
  or (state = 'starting' and state_changed_at > ${secondsAgo(STALE_START_SECONDS)})
  or (state = 'killing' and state_changed_at < ${secondsAgo(SLOW_KILL_SECONDS)})
)`

/** The sandboxes that count against the team's limit. */
export async function countOccupied(db: Db, teamId: string): Promise<number> {
  const { count } = await db
    .selectFrom('sandbox')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .where(isOccupied)
    .executeTakeFirstOrThrow()
  return count
}
