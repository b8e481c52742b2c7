import { sql } from 'kysely'
import type { Database, Db } from '@sandyard/db/database'
import { within } from '@sandyard/kit/async/within'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'

export interface MeasureParts {
  readonly database: Database
  readonly runtime: Pick<SandboxRuntime, 'volumes'>
}

/** Often enough that another server takes over soon. */
export const MEASURE_LOOK_EVERY_MS = 60_000
const MEASURE_EVERY_SECONDS = 600
const MEASURE_TIMEOUT_MS = 60_000
const SETTING = 'volumes_measured_at'

/** Stores the sizes that the engine counts, every ten minutes on one of the servers: it reads all files for that. */
export async function measureVolumes({ database: { db }, runtime: { volumes } }: MeasureParts, signal?: AbortSignal): Promise<void> {
  if (volumes === undefined || !(await claimMeasurement(db))) return
  const options = { what: 'the measurement of the volumes', timeoutMs: MEASURE_TIMEOUT_MS, ...(signal && { signal }) }
  const written = await readWritten(db)
  const sizes = await within(options, (ending) => volumes.sizes(ending))
  await storeSizes(db, sizes, written)
}

/** What was written to each volume before its measurement. */
type Written = ReadonlyMap<string, number>

async function readWritten(db: Db): Promise<Written> {
  const rows = await db.selectFrom('volume').select(['volume_id', 'written_bytes']).execute()
  return new Map(rows.map((row) => [row.volume_id, row.written_bytes]))
}

/** What was written since the measurement began counts in addition: the engine may have passed its place before. */
async function storeSizes(db: Db, sizes: ReadonlyMap<string, number>, written: Written): Promise<void> {
  const known = [...sizes].filter(([id]) => written.has(id))
  const [ids, bytes, before] = [known.map(([id]) => id), known.map(([, size]) => size), known.map(([id]) => written.get(id) ?? 0)]
  await sql`
    update volume set size_bytes = measured.bytes + volume.written_bytes - measured.before
    from unnest(${ids}::uuid[], ${bytes}::bigint[], ${before}::bigint[]) as measured (id, bytes, before)
    where volume_id = measured.id and size_bytes <> measured.bytes + volume.written_bytes - measured.before
  `.execute(db)
}

/** A server that dies with its claim costs one measurement. */
async function claimMeasurement(db: Db): Promise<boolean> {
  const { rows } = await sql`
    insert into server_setting as setting (name, value) values (${SETTING}, clock_timestamp()::text)
    on conflict (name) do update set value = excluded.value
    where setting.value::timestamptz < clock_timestamp() - make_interval(secs => ${MEASURE_EVERY_SECONDS})
    returning name
  `.execute(db)
  return rows.length > 0
}
