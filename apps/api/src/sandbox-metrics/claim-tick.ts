import { sql } from 'kysely'
import type { Database, Tx } from '@sandyard/db/database'
import { ensureSetting } from '../settings/installation.ts'
import { storeTeamMetrics } from '../team-metrics/store-team-metrics.ts'
import { SAMPLE_SECONDS } from '../time-series/bucket-width.ts'

/** The row of `server_setting` with the time of the last tick, in Unix milliseconds. */
const TICK_SETTING = 'sampled_at_ms'

const TICK_MS = SAMPLE_SECONDS * 1000
/** Starts before this age are not counted in a tick, whatever the time of the tick before. */
const MAX_GAP_MS = 3_600_000

/**
 * Claims the current tick: a slot of five seconds, by the clock of the database. One server of the installation gets each. The metrics of
 * teams are stored in the same transaction, so a start is counted once. A server that dies after it loses this tick's samples, not more.
 *
 * @returns the time of the tick; undefined when it is claimed already
 */
export async function claimTick(database: Database): Promise<Date | undefined> {
  // Most looks find nothing, and one statement costs less than a transaction.
  const { rows } = await selectUnclaimed().execute(database.db)
  if (rows.length === 0) return undefined
  return database.transaction(async (tx) => {
    const claimed = await findUnclaimed(tx)
    if (claimed === undefined) return undefined
    const { before, now } = claimed
    await tx
      .updateTable('server_setting')
      .set({ value: String(now) })
      .where('name', '=', TICK_SETTING)
      .execute()
    const tick = { since: new Date(Math.max(before, now - MAX_GAP_MS)), at: new Date(now) }
    await storeTeamMetrics(tx, tick)
    return tick.at
  })
}

/** Creates the row of the ticks, once for all servers. */
export async function ensureTicks({ db }: Database): Promise<void> {
  await ensureSetting(db, TICK_SETTING, () => '0')
}

/** Locks the row, if this tick is not claimed. A server that finds it locked does not wait: the holder claims the tick. */
async function findUnclaimed(tx: Tx): Promise<Tick | undefined> {
  const { rows } = await sql<Tick>`${selectUnclaimed()} for update of server_setting skip locked`.execute(tx)
  return rows[0]
}

interface Tick {
  readonly before: number
  readonly now: number
}

function selectUnclaimed() {
  return sql<Tick>`
    select value::bigint as before, now_ms as now
    from server_setting, (select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms) as clock
    where name = ${TICK_SETTING} and value::bigint / ${TICK_MS} < now_ms / ${TICK_MS}
  `
}
