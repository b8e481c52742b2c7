import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import type { SandboxState } from '@sandyard/db/schema/sandbox'
import { isLive, selectSandboxes, type LiveSandboxRow } from './sandbox-queries.ts'

export type WireState = 'running' | 'paused'

/** What a list is narrowed to; always one team's (control-plane.md 6.3.3). */
export interface SandboxFilter {
  readonly teamId: string
  readonly states: readonly WireState[]
  readonly metadata?: Readonly<Record<string, string>>
  /** RFC 3339, inclusive. */
  readonly startedAfter?: string
  readonly templateId?: string
}

/** A place in the order: the last sandbox of the page before. */
interface Position {
  readonly time: string
  readonly id: string
}

export interface SandboxPageRequest {
  readonly order: 'asc' | 'desc'
  readonly after: Position | undefined
  readonly limit: number
}

/** A sandbox that is being paused is listed as paused; one in another transition is not listed (control-plane.md 6.3.2). */
const STORED: Readonly<Record<WireState, readonly SandboxState[]>> = { running: ['running'], paused: ['pausing', 'paused'] }

/**
 * A page by start time, ties by id: descending time with ascending ids, or exactly the reverse. Up to `limit + 1` rows, of which
 * the last only says that there are more.
 */
export async function listSandboxes(db: Db, filter: SandboxFilter, page?: SandboxPageRequest): Promise<LiveSandboxRow[]> {
  let query = applyFilter(selectSandboxes(db), filter)
  const isAscending = page?.order === 'asc'
  if (page?.after !== undefined) {
    const { time, id } = page.after
    const at = sql<Date>`${time}::timestamptz`
    query = query.where((eb) =>
      eb.or([
        eb('sandbox.started_at', isAscending ? '>' : '<', at),
        eb.and([eb('sandbox.started_at', '=', at), eb('sandbox.sandbox_id', isAscending ? '<' : '>', id)]),
      ]),
    )
  }
  query = query.orderBy('sandbox.started_at', isAscending ? 'asc' : 'desc').orderBy('sandbox.sandbox_id', isAscending ? 'desc' : 'asc')
  if (page !== undefined) query = query.limit(page.limit + 1)
  return (await query.execute()).filter(isLive)
}

/** How many running sandboxes match, on all pages. */
export async function countRunning(db: Db, filter: SandboxFilter): Promise<number> {
  const { count } = await applyFilter(selectSandboxes(db), { ...filter, states: ['running'] })
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

function applyFilter(query: ReturnType<typeof selectSandboxes>, filter: SandboxFilter): ReturnType<typeof selectSandboxes> {
  let filtered = query
    .where('sandbox.team_id', '=', filter.teamId)
    .where(
      'sandbox.state',
      'in',
      filter.states.flatMap((state) => STORED[state]),
    )
    .where('sandbox.started_at', 'is not', null)
  if (filter.metadata !== undefined) filtered = filtered.where(sql<boolean>`sandbox.metadata @> ${JSON.stringify(filter.metadata)}::jsonb`)
  if (filter.startedAfter !== undefined)
    filtered = filtered.where('sandbox.started_at', '>=', sql<Date>`${filter.startedAfter}::timestamptz`)
  if (filter.templateId !== undefined) filtered = filtered.where('sandbox.template_id', '=', filter.templateId)
  return filtered
}
