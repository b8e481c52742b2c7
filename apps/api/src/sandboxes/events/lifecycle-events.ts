import { sql } from 'kysely'
import type { LifecycleType } from '@sandyard/api-contract/events/sandbox-event'
import type { Db } from '@sandyard/db/database'
import { describeEvents, type DescribedEvent } from './describe-events.ts'
import type { Event } from '../../events/event-log.ts'

/** The events of the log that clients of the events interface know, by its types (dashboard-and-cli.md 2.1). */
const KINDS: Readonly<Record<LifecycleType, readonly Event['kind'][]>> = {
  'sandbox.lifecycle.created': ['sandbox.running'],
  'sandbox.lifecycle.updated': ['sandbox.timeout_changed', 'sandbox.network_changed'],
  'sandbox.lifecycle.paused': ['sandbox.paused'],
  'sandbox.lifecycle.resumed': ['sandbox.resumed'],
  'sandbox.lifecycle.checkpointed': ['sandbox.snapshotted'],
  'sandbox.lifecycle.killed': ['sandbox.killing'],
}
const TYPES = new Map(Object.entries(KINDS).flatMap(([type, kinds]) => kinds.map((kind) => [kind as string, type as LifecycleType])))

/** All kinds that `findLifecycleType` knows. */
export const LIFECYCLE_KINDS: readonly string[] = [...TYPES.keys()]

export interface LifecycleRequest {
  readonly teamId: string
  readonly sandboxId?: string
  readonly types: readonly LifecycleType[]
  readonly offset: number
  readonly limit: number
  readonly isAscending: boolean
}

/**
 * A page of the lifecycle events of a team's sandboxes. A sandbox that never ran has none: the run is looked up for each end, where Postgres would read all
 * runs of the installation at once for an `exists`. Those of a team are read kind by kind, so that the events of other kinds cost nothing.
 */
export async function listLifecycleEvents(db: Db, request: LifecycleRequest): Promise<DescribedEvent[]> {
  const { teamId, sandboxId, types, offset, limit, isAscending } = request
  const kinds = [...new Set(types)].flatMap((type) => KINDS[type])
  const order = isAscending ? sql`asc` : sql`desc`
  const hasRun = sql`(event.kind <> 'sandbox.killing' or (
    select true from event as started where started.subject = event.subject and started.kind in ('sandbox.running', 'sandbox.resumed')
    limit 1
  ) or (select forgotten_runs > 0 from sandbox_history where sandbox_id = event.subject))`
  const found =
    sandboxId === undefined
      ? sql`unnest(${kinds}::text[]) as asked (kind) cross join lateral (
          select event_id from event where team_id = ${teamId} and event.kind = asked.kind and ${hasRun}
          order by event_id ${order} limit ${offset + limit}
        ) as of_kind`
      : sql`event where team_id = ${teamId} and kind = any(${kinds}::text[]) and subject = ${sandboxId} and ${hasRun}`
  const { rows } = await sql<{ event_id: number }>`
    select event_id from ${found} order by event_id ${order} limit ${limit} offset ${offset}
  `.execute(db)
  const events = await describeEvents(
    db,
    rows.map(({ event_id }) => event_id),
  )
  return isAscending ? events : events.toReversed()
}

/** Undefined for a kind that clients of the events interface do not know. */
export function findLifecycleType(kind: string): LifecycleType | undefined {
  return TYPES.get(kind)
}

/** @throws Error for a kind that `listLifecycleEvents` does not return */
export function lifecycleType(kind: string): LifecycleType {
  const type = findLifecycleType(kind)
  if (type === undefined) throw new Error(`there is no lifecycle event for ${kind}`)
  return type
}
