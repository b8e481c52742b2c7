import { sql } from 'kysely'
import type { Database } from '@sandyard/db/database'
import { ListSandboxesQuery, type SandboxList } from '@sandyard/dashboard-contract/sandboxes'
import type { Topics } from '@sandyard/dashboard-contract/live/topics'
import { AppError } from '@sandyard/kit/errors/app-error'
import { findTeam } from '../../../auth/auth-queries.ts'
import type { SandboxLimits } from '../../../sandboxes/sandbox-limits.ts'
import { readSandboxList } from '../../operations/sandboxes/read-rows.ts'
import { matchingSandboxes } from '../../operations/sandboxes/sandbox-sql.ts'
import type { Change } from '../change-feed.ts'
import { SharedTopic, type TopicSource } from '../shared-topic.ts'
import type { MakeTopic } from '../topic-registry.ts'
import { parseTopicQuery } from './topic-query.ts'
import { digest } from './whole-source.ts'

export interface SandboxesTopicParts {
  readonly database: Database
  readonly limits: SandboxLimits
}

interface Whole extends SandboxList {
  /** Former rows that still match, on later pages. Undefined: not looked up. */
  readonly elsewhere?: ReadonlySet<string>
}

interface Kept {
  /** Digests of the rows. */
  readonly rows: ReadonlyMap<string, string>
  readonly counts: string
  readonly matching: number
}

type Patch = Topics['sandboxes']['patch']

/** `sandboxes?<query>` */
export function makeSandboxesTopic(parts: SandboxesTopicParts): MakeTopic {
  return ({ teamId, query, inTurn }) => {
    const parsed = parseTopicQuery(ListSandboxesQuery, query)
    if (parsed.cursor !== undefined) throw new AppError('invalid_argument', 'A topic is always the first page')
    return new SharedTopic(new SandboxesSource(parts, teamId, parsed), inTurn)
  }
}

class SandboxesSource implements TopicSource<Whole, Kept, Patch> {
  readonly #parts: SandboxesTopicParts
  readonly #teamId: string
  readonly #query: ListSandboxesQuery

  constructor(parts: SandboxesTopicParts, teamId: string, query: ListSandboxesQuery) {
    this.#parts = parts
    this.#teamId = teamId
    this.#query = query
  }

  async read(): Promise<Whole> {
    const { database, limits } = this.#parts
    const team = await findTeam(database.db, this.#teamId)
    if (team === undefined) throw new AppError('not_found', 'Team not found')
    return readSandboxList(database.db, { team, query: this.#query, limits })
  }

  async readNew({ rows }: Kept): Promise<Whole> {
    const list = await this.read()
    const shown = new Set(list.data.map(({ sandboxId }) => sandboxId))
    const missing = [...rows.keys()].filter((id) => !shown.has(id))
    // Without further pages they match no more.
    if (missing.length === 0 || list.nextCursor === null) return { ...list, elsewhere: new Set() }
    const found = await sql<{ sandbox_id: string }>`
      select sandbox_id from (${matchingSandboxes(this.#teamId, this.#query)}) as matching where sandbox_id = any(${missing}::text[])
    `.execute(this.#parts.database.db)
    return { ...list, elsewhere: new Set(found.rows.map(({ sandbox_id }) => sandbox_id)) }
  }

  keep({ data, counts, matching }: Whole): Kept {
    return { rows: new Map(data.map((row) => [row.sandboxId, digest(row)])), counts: digest(counts), matching }
  }

  changes(kept: Kept, { data, counts, matching, nextCursor, elsewhere }: Whole): Patch | undefined {
    const rows = data.filter((row) => kept.rows.get(row.sandboxId) !== digest(row))
    const shown = new Set(data.map(({ sandboxId }) => sandboxId))
    const isKnown = elsewhere !== undefined || nextCursor === null
    const removed = isKnown ? [...kept.rows.keys()].filter((id) => !shown.has(id) && elsewhere?.has(id) !== true) : []
    const patch: Patch = {
      ...(rows.length > 0 && { rows }),
      ...(removed.length > 0 && { removed }),
      ...(kept.counts !== digest(counts) && { counts }),
      ...(kept.matching !== matching && { matching }),
    }
    return Object.keys(patch).length === 0 ? undefined : patch
  }

  hears(change: Change): boolean {
    return change.kind === 'event' && change.teamId === this.#teamId && change.event.startsWith('sandbox.')
  }
}
