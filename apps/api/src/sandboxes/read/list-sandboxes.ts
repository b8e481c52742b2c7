import { expressionBuilder, sql, type Expression, type SqlBool } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { SandboxState } from '@sandyard/db/schema/sandbox'
import type { Tables } from '@sandyard/db/schema/tables'
import { isLive, selectSandboxes, type LiveSandboxRow } from '../sandbox-queries.ts'

/** Cap of an answer without pages. */
const MOST_UNPAGED = 5000
const PAGE = 500

export type WireState = 'running' | 'paused'

/** Filters of a list; always of one team (control-plane.md 6.3.3). */
export interface SandboxFilter {
  readonly teamId: string
  readonly states: readonly WireState[]
  readonly metadata?: Readonly<Record<string, string>>
  /** RFC 3339, inclusive. */
  readonly startedAfter?: string
  readonly templateId?: string
}

/** A position in the order: the last sandbox of the former page. */
interface Position {
  readonly time: string
  readonly id: string
}

export interface SandboxPageRequest {
  readonly order: 'asc' | 'desc'
  readonly after: Position | undefined
  readonly limit: number
}

/** One that pauses or resumes is listed as paused; one in another transition is not listed (control-plane.md 6.3.2, 17.1). */
const STORED: Readonly<Record<WireState, readonly SandboxState[]>> = { running: ['running'], paused: ['pausing', 'paused', 'resuming'] }

/**
 * A page by start time, ties by id: descending time with ascending ids, or exactly the reverse. Returns up to `limit + 1` rows; the extra
 * row only shows that there are more.
 */
export async function listSandboxes(db: Db, filter: SandboxFilter, page: SandboxPageRequest): Promise<LiveSandboxRow[]> {
  let query = selectSandboxes(db).where(matches(filter))
  const isAscending = page.order === 'asc'
  if (page.after !== undefined) {
    const { time, id } = page.after
    const at = sql<Date>`${time}::timestamptz`
    // The first condition repeats a part of the second one, so that the index is searched from the position on.
    query = query
      .where('sandbox.started_at', isAscending ? '>=' : '<=', at)
      .where((eb) =>
        eb.or([
          eb('sandbox.started_at', isAscending ? '>' : '<', at),
          eb.and([eb('sandbox.started_at', '=', at), eb('sandbox.sandbox_id', isAscending ? '<' : '>', id)]),
        ]),
      )
  }
  query = query.orderBy('sandbox.started_at', isAscending ? 'asc' : 'desc').orderBy('sandbox.sandbox_id', isAscending ? 'desc' : 'asc')
  return (await query.limit(page.limit + 1).execute()).filter(isLive)
}

/**
 * All matching sandboxes, newest first, read page by page.
 *
 * @throws AppError `invalid_argument` when there are too many for one answer
 */
export async function listAllSandboxes(db: Db, filter: SandboxFilter): Promise<LiveSandboxRow[]> {
  const all: LiveSandboxRow[] = []
  let after: Position | undefined
  while (all.length <= MOST_UNPAGED) {
    const rows = await listSandboxes(db, filter, { order: 'desc', after, limit: PAGE })
    const page = rows.slice(0, PAGE)
    all.push(...page)
    const last = page.at(-1)
    if (rows.length <= PAGE || last === undefined) return all
    after = { time: last.started_at.toISOString(), id: last.sandbox_id }
  }
  throw new AppError('invalid_argument', `There are more than ${MOST_UNPAGED} sandboxes: use GET /v2/sandboxes, which has pages`)
}

/** The number of matching running sandboxes, on all pages. */
export async function countRunning(db: Db, filter: SandboxFilter): Promise<number> {
  const { count } = await db
    .selectFrom('sandbox')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where(matches({ ...filter, states: ['running'] }))
    .executeTakeFirstOrThrow()
  return count
}

function matches(filter: SandboxFilter): Expression<SqlBool> {
  const eb = expressionBuilder<Tables, 'sandbox'>()
  const { teamId, states, metadata, startedAfter, templateId } = filter
  const stored = states.flatMap((state) => STORED[state])
  const conditions = [eb('sandbox.team_id', '=', teamId), eb('sandbox.state', 'in', stored), eb('sandbox.started_at', 'is not', null)]
  if (metadata !== undefined) conditions.push(eb('sandbox.metadata', '@>', sql<Record<string, string>>`${JSON.stringify(metadata)}::jsonb`))
  if (startedAfter !== undefined) conditions.push(eb('sandbox.started_at', '>=', sql<Date>`${startedAfter}::timestamptz`))
  if (templateId !== undefined) conditions.push(eb('sandbox.template_id', '=', templateId))
  return eb.and(conditions)
}
