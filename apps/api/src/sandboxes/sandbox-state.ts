import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import { CHANNELS } from '@sandyard/db/notify'
import type { SandboxState } from '@sandyard/db/schema/sandbox'
import type { SandboxRef } from '@sandyard/runtime/types'
import { appendAndNotify, type Event } from '../events/event-log.ts'

/** The states that a sandbox may go to from each (control-plane.md 17.1). A row that is gone is the state after `killing`. */
const TRANSITIONS: Readonly<Record<SandboxState, readonly SandboxState[]>> = {
  starting: ['running', 'paused', 'killing'],
  running: ['pausing', 'snapshotting', 'killing'],
  pausing: ['paused', 'killing'],
  paused: ['starting', 'killing'],
  snapshotting: ['running', 'killing'],
  killing: [],
}

/** What is stored with a change of state. */
export interface StateChange {
  readonly to: SandboxState
  readonly event: Pick<Event, 'kind' | 'data'>
  readonly endpoint?: { readonly host: string; readonly daemonPort: number }
  /** Starts the sandbox's life now, for so many seconds. */
  readonly lifetimeSeconds?: number
}

/**
 * Moves a sandbox of exactly this incarnation to another state, with its event and its notification, if it still is in a state
 * from which the table allows that. One statement decides, so of two that compete one loses.
 *
 * @returns whether it was this call that moved it
 */
export async function changeState(tx: Tx, ref: SandboxRef, change: StateChange): Promise<boolean> {
  const from = statesBefore(change.to)
  const now = sql<Date>`clock_timestamp()`
  const moved = await tx
    .updateTable('sandbox')
    .set({
      state: change.to,
      state_changed_at: now,
      ...(change.endpoint && { endpoint_host: change.endpoint.host, endpoint_daemon_port: change.endpoint.daemonPort }),
      ...(change.lifetimeSeconds !== undefined && {
        started_at: now,
        expires_at: sql<Date>`clock_timestamp() + make_interval(secs => ${change.lifetimeSeconds})`,
      }),
    })
    .where('sandbox_id', '=', ref.sandboxId)
    .where('incarnation', '=', ref.incarnation)
    .where('state', 'in', from)
    .returning('team_id')
    .executeTakeFirst()
  if (moved === undefined) return false
  await announce(tx, ref, { teamId: moved.team_id, ...change.event })
  return true
}

/** Writes the event of a change and tells everyone who routes to the sandbox. */
export async function announce(tx: Tx, ref: SandboxRef, event: Omit<Event, 'subject'>): Promise<void> {
  const data = { incarnation: ref.incarnation, ...event.data }
  await appendAndNotify(tx, { ...event, subject: ref.sandboxId, data }, CHANNELS.routeChanged)
}

function statesBefore(state: SandboxState): SandboxState[] {
  return (Object.keys(TRANSITIONS) as SandboxState[]).filter((from) => TRANSITIONS[from].includes(state))
}
