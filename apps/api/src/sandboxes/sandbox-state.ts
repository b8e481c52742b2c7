import { sql, type Insertable, type OperationNodeSource, type RawBuilder, type UpdateObject } from 'kysely'
import type { Db, Tx } from '@sandyard/db/database'
import { keptPlan } from '@sandyard/db/kept-plan'
import { CHANNELS } from '@sandyard/db/notify'
import { isServerAlive } from '@sandyard/db/server-lease'
import type { SandboxState, SandboxTable } from '@sandyard/db/schema/sandbox'
import type { Tables } from '@sandyard/db/schema/tables'
import { currentRequestId } from '@sandyard/kit/tracing/scope'
import type { SandboxEndpoint, SandboxRef } from '@sandyard/runtime/types'
import type { Actor } from '../events/actor.ts'
import { tellOfEvent, type Event } from '../events/event-log.ts'
import { lineBytes } from '../sandbox-logs/line-bytes.ts'
import { toLifecycleLine } from '../sandbox-logs/lifecycle-line.ts'
import type { Claiming, Parked } from '../warm-pool/claim-parked.ts'
import { newSandboxId } from './sandbox-id.ts'

/** The allowed transitions from each state (control-plane.md 17.1). After `killing` the row moves to the history. */
const TRANSITIONS: Readonly<Record<SandboxState, readonly SandboxState[]>> = {
  starting: ['running', 'killing'],
  running: ['pausing', 'snapshotting', 'killing'],
  // A pause that fails leaves the sandbox running.
  pausing: ['paused', 'running', 'killing'],
  // `pausing` again: its memory is dropped.
  paused: ['resuming', 'pausing', 'killing'],
  // A resume that fails leaves it paused.
  resuming: ['running', 'paused', 'killing'],
  snapshotting: ['running', 'killing'],
  killing: [],
}

/** `processes_ended`: they ended during a pause, or while it was paused, as at the end of an engine. */
export type MemoryLoss = 'engine_restarted' | 'memory_short' | 'thawed' | 'processes_ended'

/** The data of a state change. */
export interface StateChange {
  /** Default: every state that `to` may follow. */
  readonly from?: SandboxState | readonly SandboxState[]
  readonly to: SandboxState
  readonly event: Pick<Event, 'kind' | 'data'>
  /** Why the memory is gone that the sandbox should have kept: an event of its own, before `event`. */
  readonly memoryLost?: MemoryLoss | undefined
  readonly actor: Actor
  /** Further columns of the row. */
  readonly set?: UpdateObject<Tables, 'sandbox'>
  readonly endpoint?: SandboxEndpoint
  /** Starts the lifetime now, with this length. */
  readonly lifetimeSeconds?: number
  /** The server that makes the change. If its lease has ended, nothing changes. */
  readonly serverId?: number
  /** The server that began the transition, or took it over. If another server has taken it over since, nothing changes. */
  readonly owner?: number
  /** That of the row, if given. */
  readonly claim?: string | undefined
  /** Statements that belong to the change. Each reads `changed`, which has one row if the state changed and none otherwise. */
  readonly also?: readonly RawBuilder<unknown>[]
  /** The run that was observed. If another one has begun since, nothing changes. Null before the first run: not checked. */
  readonly runSince?: Date | null
}

/**
 * Changes the state of exactly this incarnation, with its event, log line and notification, if the current state allows it. It is one
 * statement, so one of two competing calls loses, and it needs no transaction unless something else belongs to the change.
 *
 * @returns whether this call changed the state
 */
export async function changeState(db: Db, ref: SandboxRef, change: StateChange): Promise<boolean> {
  const { to, endpoint, lifetimeSeconds, serverId, owner, claim, runSince, memoryLost: reason, also } = change
  const now = sql<Date>`clock_timestamp()`
  let update = db
    .updateTable('sandbox')
    .set({
      ...change.set,
      state: to,
      state_changed_at: now,
      ...(endpoint && { endpoint_host: endpoint.host, endpoint_daemon_port: endpoint.daemonPort }),
      ...(lifetimeSeconds !== undefined && {
        started_at: now,
        expires_at: sql<Date>`clock_timestamp() + make_interval(secs => ${lifetimeSeconds})`,
      }),
    })
    .where('sandbox_id', '=', ref.sandboxId)
    .where('incarnation', '=', ref.incarnation)
    .where('state', 'in', statesBefore(to, change.from))
  if (serverId !== undefined) update = update.where(isServerAlive(sql`${serverId}::int`))
  if (owner !== undefined) update = update.where('server_id', '=', owner)
  if (claim !== undefined) update = update.where('claim', '=', claim)
  if (runSince) update = update.where('started_at', '=', runSince)
  const events: Told['events'] = [
    ...(reason === undefined ? [] : [{ kind: 'sandbox.memory_lost', data: { reason } } as const]),
    change.event,
  ]
  const told = events.map(({ kind, data }) => ({ kind, data: { actor: change.actor, ...data } }))
  const changed = update.returning(['sandbox_id', 'team_id'])
  return (await tell(db, { incarnation: ref.incarnation, changed, events: told, also })).length > 0
}

/** The first start of a sandbox: of a new one, and of one of the warm pool. */
const FIRST_INCARNATION = 1

export interface NewRow {
  readonly row: Omit<Insertable<SandboxTable>, 'sandbox_id' | 'incarnation' | 'claim'>
  readonly event: Pick<Event, 'kind' | 'data'>
  readonly claiming: Claiming | undefined
}

export interface InsertedRow {
  readonly ref: SandboxRef
  /** What it has claimed of the warm pool. */
  readonly parked: Parked | undefined
}

/**
 * Inserts the row of a reserved sandbox, with its event, log line and notification, in one statement. It is the sandbox of the warm pool that the
 * statement claims, or a new one.
 */
export async function insertReserved(tx: Tx, { row, event, claiming }: NewRow): Promise<InsertedRow> {
  const incarnation = FIRST_INCARNATION
  const { claim = null, statement: claimed = NOTHING_CLAIMED } = claiming ?? {}
  const changed = tx
    .insertInto('sandbox')
    .values({
      ...row,
      sandbox_id: sql`coalesce((select sandbox_id from claimed), ${newSandboxId()})`,
      incarnation,
      claim: sql`(select ${claim}::text from claimed)`,
    })
    .returning(['sandbox_id', 'team_id'])
  const [told] = await tell(tx, { incarnation, claimed, changed, events: [event] })
  if (told === undefined) throw new Error('the row of a sandbox was not inserted')
  const { sandbox_id: sandboxId, endpoint_host: host, endpoint_daemon_port: daemonPort } = told
  const isClaimed = claim !== null && host !== null && daemonPort !== null
  return { ref: { sandboxId, incarnation }, parked: isClaimed ? { endpoint: { host, daemonPort }, claim } : undefined }
}

/** Writes the event of a change and its line in the log of the sandbox, and notifies the routers, in one statement. */
export async function announce(
  tx: Tx,
  { sandboxId, incarnation }: SandboxRef,
  { teamId, ...event }: Omit<Event, 'subject'>,
): Promise<void> {
  await tell(tx, { incarnation, changed: sql`select ${sandboxId}::text as sandbox_id, ${teamId}::uuid as team_id`, events: [event] })
}

const NOTHING_CLAIMED = sql`select null::text as sandbox_id, null::text as endpoint_host, null::integer as endpoint_daemon_port where false`

interface Told {
  readonly incarnation: number
  /** A statement before `changed`, which may read its row. */
  readonly claimed?: RawBuilder<unknown>
  /** A statement; without a row of it there is nothing to tell. The row names the sandbox and the team. */
  readonly changed: OperationNodeSource
  /** In their order. */
  readonly events: readonly Pick<Event, 'kind' | 'data'>[]
  readonly also?: readonly RawBuilder<unknown>[] | undefined
}

interface ToldRow {
  readonly sandbox_id: string
  /** Of what was claimed. */
  readonly endpoint_host: string | null
  readonly endpoint_daemon_port: number | null
}

/** No row when `changed` has none. */
async function tell(db: Db, { incarnation, claimed = NOTHING_CLAIMED, changed, events, also = [] }: Told): Promise<readonly ToldRow[]> {
  const told = events.map(({ kind, data }) => ({ kind, data: { incarnation, ...data } }))
  const lines = told.map(toLifecycleLine).filter((line) => line !== undefined)
  // Lists of values and not arrays, whose length a kept plan would not know: Postgres would plan the statement anew each time.
  const entries = sql`(values ${sql.join(
    told.map(({ kind, data }, place) => sql`(${kind}::text, ${JSON.stringify(data)}::jsonb, ${sql.lit(place)})`),
  )}) as told (kind, data, place)`
  const texts = sql`(values ${sql.join(
    lines.map(
      ({ level, message, fields }, place) => sql`(${level}::text, ${message}::text, ${JSON.stringify(fields)}::jsonb, ${sql.lit(place)})`,
    ),
  )}) as line (level, message, fields, place)`
  const written = sql`insert into sandbox_log (sandbox_id, team_id, logged_at, level, message, fields, bytes)
      select sandbox_id, team_id, clock_timestamp(), line.level, line.message, line.fields, ${lineBytes} from changed, ${texts} order by line.place`
  const subject = sql`changed.sandbox_id`
  const { rows } = await sql<ToldRow>`
    with claimed as (${claimed}), changed as (${changed}), logged as (
      insert into event (team_id, kind, subject, data, request_id)
      select team_id, told.kind, sandbox_id, told.data, ${currentRequestId() ?? null} from changed, ${entries} order by told.place
    )${lines.length === 0 ? sql`` : sql`, written as (${written})`}${sql.join(
      also.map((statement, index) => sql`, ${sql.ref(`also_${index}`)} as (${statement})`),
      sql``,
    )}
    select ${subject}, endpoint_host, endpoint_daemon_port, pg_notify(${CHANNELS.routeChanged}, ${subject}),
      ${sql.join(told.map(({ kind }) => tellOfEvent(kind, subject)))}
    from changed left join claimed on true ${keptPlan}`.execute(db)
  return rows
}

/** @throws TypeError when the table of transitions does not allow the change */
function statesBefore(to: SandboxState, from: StateChange['from']): readonly SandboxState[] {
  const allowed = (Object.keys(TRANSITIONS) as SandboxState[]).filter((state) => TRANSITIONS[state].includes(to))
  if (from === undefined) return allowed
  const asked = typeof from === 'string' ? [from] : from
  const wrong = asked.find((state) => !allowed.includes(state))
  if (wrong !== undefined) throw new TypeError(`a sandbox cannot go from ${wrong} to ${to}`)
  return asked
}
