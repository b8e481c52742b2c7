import { sql } from 'kysely'
import type { Db } from '@sandyard/db/database'
import { inBatches } from '@sandyard/db/in-batches'

/** One of so many new lines is looked up, to find the teams that write much. */
const LOOKED_UP = 1000
/** Lines that one pass looks up; the next one continues after them. */
const MOST_LOOKED_UP = 10_000
/** What a line takes beside its message and fields: the row and its places in the indexes. */
const ROW_BYTES = 256
/** The message and fields of a line of a former release. */
const UNKNOWN_BYTES = 256
/** Part of the cap after which the logs of a team are counted again. */
const COUNTED_AFTER = 0.05
const DELETED = { size: 5000, most: 200 }
const MAX_TEAMS = 10_000
/** After this time a pass begins nothing more. */
const PASS_MS = 30_000

const size = sql<number>`(${sql.lit(ROW_BYTES)} + coalesce(bytes, ${sql.lit(UNKNOWN_BYTES)}))`

/**
 * Keeps the logs of all sandboxes of a team under a cap: the oldest lines are deleted. A count reads the lines of a team from the newest one on until they are too
 * much, so a team is counted when its first lines are found, and then only after it may have written a twentieth of the cap more. What it writes
 * is estimated from a sample of the new lines, from the oldest line on in a new process. Several servers may run it at once: they find the same lines.
 */
export class TeamLogs {
  readonly #db: Db
  readonly #capBytes: number
  #after = 0
  /** An estimate since the last count; infinite for a team that was not counted yet. */
  readonly #written = new Map<string, number>()

  constructor(db: Db, capBytes: number) {
    this.#db = db
    this.#capBytes = capBytes
  }

  /** @param stopping - ends the pass after the statement in flight */
  async pass(stopping: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(PASS_MS)])
    await this.#look()
    const due = [...this.#written].filter(([, bytes]) => bytes >= this.#capBytes * COUNTED_AFTER)
    for (const [teamId] of due.toSorted(([, one], [, other]) => other - one)) {
      if (signal.aborted) return
      if (await dropOldest(this.#db, { teamId, capBytes: this.#capBytes, signal })) this.#written.set(teamId, 0)
    }
  }

  async #look(): Promise<void> {
    const { rows: range } = await sql<{ first: number | null; last: number | null }>`
      select min(log_id) as first, max(log_id) as last from sandbox_log
    `.execute(this.#db)
    const { first, last } = range[0] ?? {}
    const begin = Math.max(this.#after, (first ?? 1) - 1)
    const end = Math.min(last ?? 0, begin + LOOKED_UP * MOST_LOOKED_UP)
    const ids: number[] = []
    for (let start = begin; start < end; start += LOOKED_UP) ids.push(start + 1 + Math.floor(Math.random() * LOOKED_UP))
    if (ids.length === 0) return
    const { rows } = await sql<{ team_id: string; size: number }>`
      select team_id, ${size} as size from sandbox_log where log_id = any(${ids}::bigint[])
    `.execute(this.#db)
    if (this.#written.size > MAX_TEAMS) this.#written.clear()
    for (const { team_id: teamId, size: found } of rows) {
      this.#written.set(teamId, (this.#written.get(teamId) ?? Infinity) + found * LOOKED_UP)
    }
    this.#after = end
  }
}

interface Excess {
  readonly teamId: string
  readonly capBytes: number
  readonly signal: AbortSignal
}

/** @returns false when the next pass has to go on */
async function dropOldest(db: Db, { teamId, capBytes, signal }: Excess): Promise<boolean> {
  // With a range, no other index than that of the team has the order. All that the count reads is in it.
  const { rows } = await sql<{ log_id: number }>`
    select log_id from (
      select team_id, log_id, sum(${size}) over (order by team_id desc, log_id desc rows unbounded preceding) as total
      from sandbox_log where team_id between ${teamId} and ${teamId}
    ) as counted
    where total > ${capBytes} order by team_id desc, log_id desc limit 1
  `.execute(db)
  const [newest] = rows
  if (newest === undefined) return true
  const deleted = await inBatches({ ...DELETED, signal }, async (lines) => {
    const { numAffectedRows } = await sql`
      delete from sandbox_log where log_id = any(array(
        select log_id from sandbox_log where team_id between ${teamId} and ${teamId} and log_id <= ${newest.log_id}
        order by team_id, log_id limit ${lines} for update skip locked
      ))
    `.execute(db)
    return Number(numAffectedRows ?? 0n)
  })
  return !signal.aborted && deleted < DELETED.size * DELETED.most
}
