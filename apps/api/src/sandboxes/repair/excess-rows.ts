import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { inBatches } from '@sandyard/db/in-batches'
import { capEvents, eventCap, RUN_BEGINS, type EventGroup } from '../../events/cap-events.ts'
import { capHistory } from '../end/cap-history.ts'
import { capRuns } from '../events/cap-runs.ts'
import type { Event } from '../../events/event-log.ts'
import { trimLogs } from '../../sandbox-logs/trim-logs.ts'

/** New events that a pass looks at. */
const LOOK = { size: 10_000, most: 20 }
/** One of so many is looked up: who causes many is found, and a count of all that is kept costs little for each. */
const LOOKED_UP = 100
const DELETED = { size: 1000, most: 500 }
const ENDED = 'sandbox.ended' satisfies Event['kind']
/** The newest ones of a team, within the retention of the history. */
const KEPT_ENDED = 1_000_000
/** With a few events each. */
const ENDED_AT_ONCE = 200
/** After this time a pass begins nothing more. */
const PASS_MS = 30_000

interface Sample {
  readonly team_id: string
  readonly subject: string
  readonly kind: string
}

/**
 * Deletes the events, log lines and ended sandboxes of those that have more than their caps. Who may have too many is found among the events that are
 * new since the pass before, from the oldest event on in a new process. Those with the most come first.
 */
export class ExcessRows {
  readonly #db: Db
  readonly #keptEnded: number
  #after = 0

  /** @param keptEnded - ended sandboxes of a team */
  constructor(db: Db, keptEnded = KEPT_ENDED) {
    this.#db = db
    this.#keptEnded = keptEnded
  }

  /** @param stopping - ends the pass after the statement in flight */
  async pass(stopping: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(PASS_MS)])
    const samples: Sample[] = []
    await inBatches({ ...LOOK, signal }, (size) => this.#look(size, samples))
    let left = DELETED.most
    for (const group of groupsOf(samples)) {
      if (left <= 0 || signal.aborted) return
      const cap = group.kind === RUN_BEGINS ? capRuns : capEvents
      const deleted = await cap(this.#db, group, { size: DELETED.size, most: left, signal })
      left -= Math.ceil(deleted / DELETED.size)
    }
    for (const teamId of mostFirst(samples.filter(({ kind }) => kind === ENDED).map(({ team_id }) => team_id))) {
      if (left <= 0 || signal.aborted) return
      const deleted = await capHistory(this.#db, { teamId, kept: this.#keptEnded }, { size: ENDED_AT_ONCE, most: left, signal })
      left -= Math.ceil(deleted / ENDED_AT_ONCE)
    }
    for (const sandboxId of mostFirst(samples.filter(({ kind }) => kind.startsWith('sandbox.')).map(({ subject }) => subject))) {
      if (signal.aborted) return
      await trimLogs(this.#db, sandboxId)
    }
  }

  async #look(size: number, samples: Sample[]): Promise<number> {
    const { rows } = await sql<{ count: number; last: number | null; sampled: readonly Sample[] }>`
      with page as materialized (
        select event_id, team_id, subject, kind from event where event_id > ${this.#after} order by event_id limit ${size}
      )
      select (select count(*) from page) as count, (select max(event_id) from page) as last, coalesce((
        select jsonb_agg(jsonb_build_object('team_id', team_id, 'subject', subject, 'kind', kind)) from page where random() * ${LOOKED_UP}::int < 1
      ), '[]') as sampled
    `.execute(this.#db)
    const { count = 0, last = null, sampled = [] } = rows[0] ?? {}
    samples.push(...sampled)
    this.#after = last ?? this.#after
    return count
  }
}

function groupsOf(samples: readonly Sample[]): EventGroup[] {
  const groups = samples.flatMap(({ team_id, subject, kind }): EventGroup[] => [
    { owner: 'subject', id: subject, kind },
    { owner: 'team_id', id: team_id, kind },
  ])
  const capped = groups.filter((group) => eventCap(group) !== undefined)
  return mostFirst(capped.map((group) => JSON.stringify(group))).map((text) => JSON.parse(text) as EventGroup)
}

/** Each once, those that are there most often first. */
function mostFirst(all: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const one of all) counts.set(one, (counts.get(one) ?? 0) + 1)
  return [...counts.keys()].toSorted((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0))
}
