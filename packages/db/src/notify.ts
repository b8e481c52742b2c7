import { sql } from 'kysely'
import type { Db, Tx } from './database.ts'

/** The channels of this installation's database. Payloads are ids; readers query the rest. */
export const CHANNELS = {
  /** A sandbox's state, endpoint or existence changed; payload: its id. */
  routeChanged: 'route_changed',
  /** A credential, a membership or a team lost or changed a right; no payload. */
  authChanged: 'auth_changed',
  /** A build was queued or cancelled; payload: its id. */
  buildChanged: 'build_changed',
  /** A node was told to drain or to serve again; payload: its server id. */
  nodeChanged: 'node_changed',
  /** A secret of a team was made, changed or deleted; payload: the id of the team. */
  secretChanged: 'secret_changed',
  /** A delivery to a webhook is due, or webhooks have changed; no payload. */
  webhookDue: 'webhook_due',
  /** An event was appended; payload: `<team id> <kind> <subject>`. */
  eventAppended: 'event_appended',
  /** Something that only the dashboard shows changed; payload: `<team id, or -> <job|terminal|session|host> <id>`. */
  dashboardChanged: 'dashboard_changed',
} as const

export type Channel = (typeof CHANNELS)[keyof typeof CHANNELS]

/** Notifies listeners if and when the transaction commits. */
export async function notify(tx: Tx, channel: Channel, payload: string): Promise<void> {
  await sql`select pg_notify(${channel}, ${payload})`.execute(tx)
}

/** Notifies listeners at once: of what is not in the database. */
export async function notifyNow(db: Db, channel: Channel, payload: string): Promise<void> {
  await sql`select pg_notify(${channel}, ${payload})`.execute(db)
}
