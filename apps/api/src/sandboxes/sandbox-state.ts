import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import { CHANNELS } from '@sandyard/db/notify'
import { isServerAlive } from '@sandyard/db/server-lease'
import type { SandboxState } from '@sandyard/db/schema/sandbox'
import type { SandboxRef } from '@sandyard/runtime/types'
import { appendAndNotify, type Event } from '../events/event-log.ts'

/** The allowed transitions from each state (control-plane.md 17.1). After `killing` the row moves to the history. */
const TRANSITIONS: Readonly<Record<SandboxState, readonly SandboxState[]>> = {
  starting: ['running', 'paused', 'killing'],
  running: ['pausing', 'snapshotting', 'killing'],
  pausing: ['paused', 'killing'],
  paused: ['starting', 'killing'],
  snapshotting: ['running', 'killing'],
  killing: [],
}

/** The data of a state change. */
export interface StateChange {
  readonly to: SandboxState
  readonly event: Pick<Event, 'kind' | 'data'>
  readonly endpoint?: { readonly host: string; readonly daemonPort: number }
  /** Starts the lifetime now, with this length. */
  readonly lifetimeSeconds?: number
  /** Why it ends. */
  readonly endReason?: string
  /** The server that makes the change. If its lease has ended, nothing changes. */
  readonly serverId?: number
}

/**
 * Changes the state of exactly this incarnation, with its event and notification, if the current state allows it. One statement decides, so
 * one of two competing calls loses.
 *
 * @returns whether this call changed the state
 */
export async function changeState(tx: Tx, ref: SandboxRef, change: StateChange): Promise<boolean> {
  const from = statesBefore(change.to)
  const now = sql<Date>`clock_timestamp()`
  let update = tx
    .updateTable('sandbox')
    .set({
      state: change.to,
      state_changed_at: now,
      ...(change.endReason !== undefined && { end_reason: change.endReason }),
      ...(change.endpoint && { endpoint_host: change.endpoint.host, endpoint_daemon_port: change.endpoint.daemonPort }),
      ...(change.lifetimeSeconds !== undefined && {
        started_at: now,
        expires_at: sql<Date>`clock_timestamp() + make_interval(secs => ${change.lifetimeSeconds})`,
      }),
    })
    .where('sandbox_id', '=', ref.sandboxId)
    .where('incarnation', '=', ref.incarnation)
    .where('state', 'in', from)
  if (change.serverId !== undefined) update = update.where(isServerAlive(sql`${change.serverId}::int`))
  const moved = await update.returning('team_id').executeTakeFirst()
  if (moved === undefined) return false
  await announce(tx, ref, { teamId: moved.team_id, ...change.event })
  return true
}

/** Writes the event of a change and notifies the routers. */
export async function announce(tx: Tx, ref: SandboxRef, event: Omit<Event, 'subject'>): Promise<void> {
  const data = { incarnation: ref.incarnation, ...event.data }
  await appendAndNotify(tx, { ...event, subject: ref.sandboxId, data }, CHANNELS.routeChanged)
}

function statesBefore(state: SandboxState): SandboxState[] {
  return (Object.keys(TRANSITIONS) as SandboxState[]).filter((from) => TRANSITIONS[from].includes(state))
}
