import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { inBatches, type Batches } from '@sandyard/db/in-batches'
import type { Event } from './event-log.ts'

/** The newest events of a kind that are kept. */
interface EventCap {
  readonly ofSandbox?: number
  readonly ofTeam: number
}

const OF_SANDBOXES: EventCap = { ofSandbox: 20_000, ofTeam: 1_000_000 }
const OF_TEMPLATES: EventCap = { ofTeam: 100_000 }

/** Each run of a sandbox but the first one begins with it. */
export const RUN_BEGINS = 'sandbox.resumed' satisfies Event['kind']

/**
 * Kinds that a client can cause as often as it asks. Nothing depends on them later but on the runs, which `capRuns` therefore adds up. The others are a few for
 * each sandbox: its creator, its first start and its end are found by them.
 */
const CAPS: Readonly<Partial<Record<string, EventCap>>> = {
  'sandbox.timeout_changed': OF_SANDBOXES,
  'sandbox.network_changed': { ofSandbox: 1000, ofTeam: 10_000 },
  'sandbox.pausing': OF_SANDBOXES,
  'sandbox.pause_failed': OF_SANDBOXES,
  'sandbox.resuming': OF_SANDBOXES,
  'sandbox.resume_failed': OF_SANDBOXES,
  'sandbox.snapshotting': OF_SANDBOXES,
  'sandbox.snapshot_failed': OF_SANDBOXES,
  'sandbox.snapshotted': OF_SANDBOXES,
  'sandbox.forked': OF_SANDBOXES,
  'sandbox.memory_lost': OF_SANDBOXES,
  [RUN_BEGINS]: OF_SANDBOXES,
  'template.build_registered': OF_TEMPLATES,
  'template.built': OF_TEMPLATES,
  'template.build_failed': OF_TEMPLATES,
  'template.updated': OF_TEMPLATES,
  'template.deleted': OF_TEMPLATES,
  'template.tagged': OF_TEMPLATES,
  'template.untagged': OF_TEMPLATES,
} satisfies Partial<Record<Event['kind'], EventCap>>

/** The events of a kind of one sandbox or of one team. */
export interface EventGroup {
  readonly owner: 'subject' | 'team_id'
  readonly id: string
  readonly kind: string
}

/** How long excess events wait for the reader of webhooks. */
const UNREAD_KEPT = '1 day'

/** SQL condition on `event`: no webhook waits for it, or it has waited long enough. */
export const isReadByWebhooks = sql<boolean>`(
  (
    place <= (select place from webhook_reader)
    and not exists (select from webhook_late_team as late where late.team_id = event.team_id and late.place < event.place)
  )
  or event.created_at < statement_timestamp() - ${sql.lit(UNREAD_KEPT)}::interval
  or not exists (select from webhook where webhook.team_id = event.team_id and enabled)
)`

export function eventCap({ owner, kind }: Omit<EventGroup, 'id'>): number | undefined {
  const cap = CAPS[kind]
  return owner === 'subject' ? cap?.ofSandbox : cap?.ofTeam
}

/**
 * Deletes the events of a group beyond its cap, oldest first and in batches; runs are left to `capRuns`. Those that webhooks wait for are kept until their
 * reader has read them, or for a day. Several servers may run it at once.
 *
 * @returns the number of deleted events
 */
export async function capEvents(db: Db, group: EventGroup, batches: Batches): Promise<number> {
  const most = eventCap(group)
  const { owner, id, kind } = group
  if (most === undefined) return 0
  const isMember = sql`${sql.ref(owner)} = ${id} and kind = ${kind}`
  const { rows } = await sql<{ event_id: number }>`
    select event_id from event where ${isMember} order by event_id desc offset ${most} limit 1
  `.execute(db)
  const [newest] = rows
  if (newest === undefined) return 0
  return inBatches(batches, async (size) => {
    const { numAffectedRows } = await sql`
      delete from event where event_id = any(array(
        select event_id from event where ${isMember} and event_id <= ${newest.event_id}
          and ${isReadByWebhooks}
        order by event_id limit ${size} for update skip locked
      ))
    `.execute(db)
    return Number(numAffectedRows ?? 0n)
  })
}
