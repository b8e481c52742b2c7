import { sql } from 'kysely'
import type { Database, Db } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import { currentRequestId, currentScope } from '@sandyard/kit/tracing/scope'
import type { Actor } from '../events/actor.ts'
import { tellOfEvent } from '../events/event-log.ts'

/** How a new end time applies: `set` replaces it, `extend` never shortens it. */
export type EndTimeRule = 'set' | 'extend'

export interface EndTimeChange {
  readonly teamId: string
  readonly sandboxId: string
  /** From now. */
  readonly seconds: number
  readonly rule: EndTimeRule
  /** Cap counted from the start; longer requests are truncated. */
  readonly maxSeconds: number
  readonly actor: Actor
}

/**
 * Changes the end time of a running sandbox, with an event if it differs. Changes of one sandbox come one after another, and only the one that works has a
 * connection to the database.
 *
 * @returns false when none runs under this id
 * @throws AppError `resource_exhausted` when too many wait, or the others take too long; `canceled` when the client has gone
 */
export async function changeEndTime(database: Database, change: EndTimeChange): Promise<boolean> {
  const signal = currentScope()?.request?.gone
  return database.inTurn({ owners: [`sandbox/${change.sandboxId}`], isUrgent: false, signal, onRefused: tooManyWait }, (db) =>
    store(db, change),
  )
}

async function store(db: Db, change: EndTimeChange): Promise<boolean> {
  const { sandboxId, teamId, seconds, maxSeconds, rule, actor } = change
  const asked = sql`least(clock_timestamp() + make_interval(secs => ${seconds}), started_at + make_interval(secs => ${maxSeconds}))`
  const { rows } = await sql<{ sandbox_id: string }>`
    with before as (
      select sandbox_id, team_id, expires_at, ${rule === 'set' ? asked : sql`greatest(expires_at, ${asked})`}::timestamptz(3) as end_at
      from sandbox where sandbox_id = ${sandboxId} and team_id = ${teamId} and state = 'running'
      for update
    ), logged as (
      insert into event (team_id, kind, subject, request_id, data)
      select team_id, 'sandbox.timeout_changed', sandbox_id, ${currentRequestId() ?? null}, jsonb_build_object('actor', ${JSON.stringify(actor)}::jsonb, 'endAt', to_char(end_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      from before where end_at <> expires_at
    ), changed as (
      update sandbox set expires_at = before.end_at from before where sandbox.sandbox_id = before.sandbox_id
      returning sandbox.sandbox_id, sandbox.team_id
    )
    select sandbox_id, ${tellOfEvent('sandbox.timeout_changed', sql`sandbox_id`)} from changed
  `.execute(db)
  return rows.length > 0
}

function tooManyWait(): AppError {
  return new AppError('resource_exhausted', 'Too many requests change the end time of the sandbox: try again', {
    headers: { 'retry-after': '1' },
  })
}
