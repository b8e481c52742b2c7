import { sql, type UpdateObject } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import { CHANNELS } from '@sandyard/db/notify'
import { isServerAlive } from '@sandyard/db/server-lease'
import type { SandboxState } from '@sandyard/db/schema/sandbox'
import type { Tables } from '@sandyard/db/schema/tables'
import type { SandboxEndpoint, SandboxRef } from '@sandyard/runtime/types'
import type { Actor } from '../events/actor.ts'
import { appendAndNotify, type Event } from '../events/event-log.ts'
import { toLifecycleLine } from '../sandbox-logs/lifecycle-line.ts'
import { logSandbox } from '../sandbox-logs/log-sandbox.ts'

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

/** The data of a state change. */
export interface StateChange {
  /** Default: every state that `to` may follow. */
  readonly from?: SandboxState | readonly SandboxState[]
  readonly to: SandboxState
  readonly event: Pick<Event, 'kind' | 'data'>
  readonly actor: Actor
  /** Further columns of the row. */
  readonly set?: UpdateObject<Tables, 'sandbox'>
  readonly endpoint?: SandboxEndpoint
  /** Starts the lifetime now, with this length. */
  readonly lifetimeSeconds?: number
  /** The server that makes the change. If its lease has ended, nothing changes. */
  readonly serverId?: number
  /** The run that was observed. If another one has begun since, nothing changes. Null before the first run: not checked. */
  readonly runSince?: Date | null
}

/**
 * Changes the state of exactly this incarnation, with its event and notification, if the current state allows it. One statement decides, so
 * one of two competing calls loses.
 *
 * @returns whether this call changed the state
 */
export async function changeState(tx: Tx, ref: SandboxRef, change: StateChange): Promise<boolean> {
  const { to, endpoint, lifetimeSeconds, serverId, runSince } = change
  const now = sql<Date>`clock_timestamp()`
  let update = tx
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
  if (runSince) update = update.where('started_at', '=', runSince)
  const moved = await update.returning('team_id').executeTakeFirst()
  if (moved === undefined) return false
  const data = { actor: change.actor, ...change.event.data }
  await announce(tx, ref, { teamId: moved.team_id, kind: change.event.kind, data })
  return true
}

/** Writes the event of a change and its line in the log of the sandbox, and notifies the routers. */
export async function announce(tx: Tx, ref: SandboxRef, event: Omit<Event, 'subject'>): Promise<void> {
  const data = { incarnation: ref.incarnation, ...event.data }
  const whole = { ...event, subject: ref.sandboxId, data }
  await appendAndNotify(tx, whole, CHANNELS.routeChanged)
  const line = toLifecycleLine(whole)
  if (line !== undefined) await logSandbox(tx, line)
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
