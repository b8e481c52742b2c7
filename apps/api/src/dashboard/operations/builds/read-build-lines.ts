import { sql } from 'kysely'
import type { BuildLine } from '@sandyard/dashboard-contract/templates'
import type { Db } from '@sandyard/db/database'
import type { LogLevel } from '@sandyard/db/schema/build-log'
import { cutToBytes } from '../../live/topics/cut-to-bytes.ts'

const MAX_LINES = 1000
/** Of the lines of one answer, as JSON: a line alone can have 64 KiB. */
const MAX_LINES_BYTES = 1024 ** 2
const FAILING_LINES = 20
const FAILING_LINES_BYTES = 256 * 1024

/** Lines in order after a number: at most `limit`, and at most `MAX_LINES_BYTES`. The caller has checked whose build it is. */
export async function readBuildLines(
  db: Db,
  buildId: string,
  { after = 0, limit = MAX_LINES }: { readonly after?: number; readonly limit?: number },
): Promise<{ lines: BuildLine[]; hasMore: boolean }> {
  const rows = await selectLines(db, { buildId, after, step: null, order: 'asc', limit: limit + 1, maxBytes: MAX_LINES_BYTES })
  const lines = cutToBytes(rows.slice(0, limit).map(toLine), MAX_LINES_BYTES)
  const last = lines.at(-1)?.number
  return { lines, hasMore: last !== undefined && (await hasLinesAfter(db, buildId, last)) }
}

/** In order: at most `limit`, and at most `MAX_LINES_BYTES`. The caller has checked whose build it is. */
export async function readNewestLines(db: Db, buildId: string, limit: number): Promise<BuildLine[]> {
  const rows = await selectLines(db, { buildId, after: 0, step: null, order: 'desc', limit, maxBytes: MAX_LINES_BYTES })
  return cutToBytes(rows.map(toLine), MAX_LINES_BYTES).toReversed()
}

/** The last lines of a step, in order. The caller has checked whose build it is. */
export async function readLastLinesOf(db: Db, buildId: string, step: string): Promise<BuildLine[]> {
  const rows = await selectLines(db, { buildId, after: 0, step, order: 'desc', limit: FAILING_LINES, maxBytes: FAILING_LINES_BYTES })
  return cutToBytes(rows.map(toLine), FAILING_LINES_BYTES).toReversed()
}

interface StoredLine {
  readonly seq: number
  readonly time: Date
  readonly level: LogLevel
  readonly step: string | null
  readonly message: string
}

interface LineQuery {
  readonly buildId: string
  readonly after: number
  /** Null: of all steps. */
  readonly step: string | null
  readonly order: 'asc' | 'desc'
  readonly limit: number
  /** Of the messages. The first line is there in any case. */
  readonly maxBytes: number
}

/** The database counts the bytes, so no more than these come here. */
async function selectLines(db: Db, { buildId, after, step, order, limit, maxBytes }: LineQuery): Promise<StoredLine[]> {
  const way = sql.raw(order)
  const { rows } = await sql<StoredLine>`
    select seq, time, level, step, message from (
      select *, sum(octet_length(message)) over (order by seq ${way} rows unbounded preceding) - octet_length(message) as bytes_before
      from (
        select seq, time, level, step, message from build_log
        where build_id = ${buildId} and seq > ${after} and (${step}::text is null or step = ${step}::text)
        order by seq ${way} limit ${limit}
      ) as near
    ) as counted where bytes_before < ${maxBytes} order by seq ${way}
  `.execute(db)
  return rows
}

async function hasLinesAfter(db: Db, buildId: string, seq: number): Promise<boolean> {
  const next = db.selectFrom('build_log').select('seq').where('build_id', '=', buildId).where('seq', '>', seq)
  return (await next.limit(1).executeTakeFirst()) !== undefined
}

function toLine({ seq, time, level, step, message }: StoredLine): BuildLine {
  return { number: seq, at: time.toISOString(), level, step, text: message }
}
