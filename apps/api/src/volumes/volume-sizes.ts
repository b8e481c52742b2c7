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

/**
 * Counts what the content API has written. Until the next measurement a file that replaces another one counts twice, and a body without a length
 * does not count.
 */
export async function addBytes(db: Db, volumeId: string, bytes: number): Promise<void> {
  if (bytes === 0) return
  await db
    .updateTable('volume')
    .set((eb) => ({ size_bytes: eb('size_bytes', '+', bytes) }))
    .where('volume_id', '=', volumeId)
    .execute()
}

/** Stores the sizes that the engine counts, every ten minutes on one of the servers: it reads all files for that. */
export async function measureVolumes({ database: { db }, runtime: { volumes } }: MeasureParts, signal?: AbortSignal): Promise<void> {
  if (volumes === undefined || !(await claimMeasurement(db))) return
  const options = { what: 'the measurement of the volumes', timeoutMs: MEASURE_TIMEOUT_MS, ...(signal && { signal }) }
  const sizes = await within(options, (ending) => volumes.sizes(ending))
  await sql`
    update volume set size_bytes = measured.bytes
    from unnest(${[...sizes.keys()]}::text[], ${[...sizes.values()]}::bigint[]) as measured (name, bytes)
    where volume_id::text = measured.name and size_bytes <> measured.bytes
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
