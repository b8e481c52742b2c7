import { sql, type RawBuilder } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { inBatches, type Batches } from '@sandyard/db/in-batches'
import { eventCap, isReadByWebhooks, RUN_BEGINS, type EventGroup } from '../../events/cap-events.ts'

const IN_RUN = sql`kind in ('sandbox.running', 'sandbox.resumed', 'sandbox.paused')`
const BEGINS = sql`kind in ('sandbox.running', 'sandbox.resumed')`
/** Events of a team that are searched for its sandboxes with old runs. */
const SEARCHED = 10_000

/**
 * Deletes the events of the oldest runs of a sandbox or of a team beyond the cap. Clients see the number of a run, and the history has the length of all: what is
 * deleted is added up in the row of the sandbox. So whole runs are deleted, from the first one on, and of a sandbox that lives never the
 * last one. Several servers may run it at once.
 *
 * @param batches - `size` runs in a batch
 * @returns the number of deleted events
 */
export async function capRuns(db: Db, group: EventGroup, batches: Batches, most = eventCap(group)): Promise<number> {
  if (most === undefined) return 0
  if (group.owner === 'subject') {
    const oldestKept = await findEvent(db, sql`subject = ${group.id} and ${BEGINS}`, most - 1)
    return oldestKept === undefined ? 0 : forgetRuns(db, { sandboxId: group.id, until: oldestKept, batches })
  }
  const until = await findEvent(db, sql`team_id = ${group.id} and kind = ${RUN_BEGINS}`, most)
  if (until === undefined) return 0
  const { rows } = await sql<{ subject: string }>`
    select distinct subject from (
      select subject from event where team_id = ${group.id} and kind = ${RUN_BEGINS} and event_id <= ${until} order by event_id limit ${SEARCHED}
    ) as oldest
  `.execute(db)
  let deleted = 0
  for (const { subject: sandboxId } of rows) {
    if (batches.signal?.aborted === true || deleted >= batches.size * batches.most) break
    deleted += await forgetRuns(db, { sandboxId, until, batches })
  }
  return deleted
}

/** @param newer - how many newer ones there are */
async function findEvent(db: Db, isMember: RawBuilder<unknown>, newer: number): Promise<number | undefined> {
  const { rows } = await sql<{ event_id: number }>`
    select event_id from event where ${isMember} order by event_id desc offset ${newer} limit 1
  `.execute(db)
  return rows[0]?.event_id
}

interface OldRuns {
  readonly sandboxId: string
  /** The runs that began before this event, and the one that began with it if the sandbox has ended. */
  readonly until: number
  readonly batches: Batches
}

async function forgetRuns(db: Db, { sandboxId, until, batches }: OldRuns): Promise<number> {
  let deleted = 0
  const forget = async (statement: RawBuilder<Forgotten>): Promise<Forgotten> => {
    const { rows } = await statement.execute(db)
    const forgotten = rows[0] ?? { events: 0, runs: 0 }
    deleted += forgotten.events
    return forgotten
  }
  await inBatches(batches, async (size) => (await forget(forgetLive(sandboxId, until, size))).runs)
  await inBatches(batches, async (size) => (await forget(forgetEnded(sandboxId, until, size))).events)
  return deleted
}

interface Forgotten {
  readonly events: number
  readonly runs: number
}

/**
 * The lock of the row waits for nothing, and leaves a sandbox alone that is ending: the statement that moves it to the history reads its events and its row at
 * different times.
 */
function forgetLive(sandboxId: string, until: number, size: number): RawBuilder<Forgotten> {
  return sql<Forgotten>`
    with box as materialized (
      select sandbox_id from sandbox where sandbox_id = ${sandboxId} and state <> 'killing' for no key update skip locked
    ), start as (
      select event_id, created_at from event where subject = ${sandboxId} and ${BEGINS} and event_id <= ${until} and ${isReadByWebhooks}
      order by event_id limit ${size + 1}
    ), next as (
      select event_id, created_at from start order by event_id desc limit 1
    ), gone as (
      delete from event using next
      where exists (select from box) and subject = ${sandboxId} and ${IN_RUN} and event.event_id < next.event_id
      returning event.event_id, kind, event.created_at
    ), change as (
      select event_id, kind, coalesce(lead(created_at) over (order by event_id), (select created_at from next)) - created_at as length from gone
    ), forgotten as (
      select count(*) as events, count(*) filter (where ${BEGINS}) as runs, max(event_id) as last,
        coalesce(sum(extract(epoch from length) * 1000) filter (where ${BEGINS}), 0)::bigint as ms
      from change
    ), noted as (
      update sandbox set forgotten_runs = forgotten_runs + runs, forgotten_run_ms = forgotten_run_ms + ms, forgotten_through = last
      from forgotten where sandbox_id = ${sandboxId} and events > 0
    )
    select events, runs from forgotten
  `
}

/** The history has the length of its runs already, as long as it knows the sandbox. */
function forgetEnded(sandboxId: string, until: number, size: number): RawBuilder<Forgotten> {
  return sql<Forgotten>`
    with gone as (
      delete from event where not exists (select from sandbox where sandbox_id = ${sandboxId}) and event_id = any(array(
        select event_id from event where subject = ${sandboxId} and ${IN_RUN} and event_id <= ${until} and ${isReadByWebhooks}
        order by event_id limit ${size} for update skip locked
      ))
      returning event_id, kind
    ), forgotten as (
      select count(*) as events, count(*) filter (where ${BEGINS}) as runs, max(event_id) as last from gone
    ), noted as (
      update sandbox_history set forgotten_runs = forgotten_runs + runs, forgotten_through = last
      from forgotten where sandbox_id = ${sandboxId} and events > 0
    )
    select events, runs from forgotten
  `
}
