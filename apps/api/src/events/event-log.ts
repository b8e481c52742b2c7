import { sql, type RawBuilder } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import { CHANNELS } from '@sandyard/db/notify'
import { currentRequestId } from '@sandyard/kit/tracing/scope'

/** An entry of the log. `subject` is the id of the changed object. */
export interface Event {
  readonly teamId: string
  readonly kind:
    | 'sandbox.starting'
    | 'sandbox.running'
    | 'sandbox.pausing'
    | 'sandbox.paused'
    | 'sandbox.pause_failed'
    | 'sandbox.resuming'
    | 'sandbox.resumed'
    | 'sandbox.resume_failed'
    | 'sandbox.snapshotting'
    | 'sandbox.snapshotted'
    | 'sandbox.snapshot_failed'
    | 'sandbox.forked'
    | 'sandbox.memory_lost'
    | 'sandbox.timeout_changed'
    | 'sandbox.network_changed'
    | 'sandbox.killing'
    | 'sandbox.ended'
    | 'template.build_registered'
    | 'template.built'
    | 'template.build_failed'
    | 'template.updated'
    | 'template.deleted'
    | 'template.tagged'
    | 'template.untagged'
  readonly subject: string
  readonly data?: Readonly<Record<string, unknown>>
}

/**
 * SQL: tells the dashboards of an event, for a statement whose rows have its `team_id`. Ids of objects are far below the 8,000 bytes of a payload.
 */
export function tellOfEvent(kind: Event['kind'], subject: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`pg_notify(${CHANNELS.eventAppended}, concat_ws(' ', team_id::text, ${kind}::text, ${subject}::text))`
}

/** The kind of the event that a notification tells of (`tellOfEvent`). */
export function toldKind(payload: string): string | undefined {
  return payload.split(' ', 2)[1]
}

/** Appends an event in the transaction of the change, with the id of the current request. */
export async function appendEvent(tx: Tx, event: Event): Promise<void> {
  const { teamId, kind, subject, data } = event
  const row = { team_id: teamId, kind, subject, request_id: currentRequestId() ?? null, ...(data && { data: JSON.stringify(data) }) }
  await tx
    .with('logged', (db) => db.insertInto('event').values(row).returning('team_id'))
    .selectFrom('logged')
    .select(tellOfEvent(kind, sql`${subject}`).as('told'))
    .execute()
}
