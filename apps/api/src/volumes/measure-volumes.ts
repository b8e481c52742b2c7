import { sql } from 'kysely'
import type { Database, Db } from '@sandyard/db/database'
import { within } from '@sandyard/kit/async/within'
import { isAppError } from '@sandyard/kit/errors/app-error'
import { isUuid } from '@sandyard/kit/ids/uuid'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { VolumeStore } from '@sandyard/runtime/volume-store'

export interface MeasureParts {
  readonly database: Database
  readonly runtime: Pick<SandboxRuntime, 'volumes'>
  readonly log: Pick<Logger, 'info' | 'warn'>
}

export interface MeasureOptions {
  /** In one pass, after which no other volume is measured alone. */
  readonly aloneMs?: number
}

/** Often enough that another server takes over soon. */
export const MEASURE_LOOK_EVERY_MS = 60_000
/** Longer than a pass takes: no two servers measure at once. */
const MEASURE_EVERY_SECONDS = 600
const MEASURE_TIMEOUT_MS = 60_000
const ALONE_MS = 300_000
const ONE_TIMEOUT_MS = 120_000
/** For the start of what measures one volume. */
const START_MS = 30_000
/** More than a pass can measure. */
const MAX_ALONE = 2000
/** How long an engine that could not measure all volumes in time is not asked for all. */
const SLOW_SECONDS = 6 * 3600
const CLAIM = 'volumes_measured_at'
const SLOW_UNTIL = 'volumes_measured_alone_until'

/**
 * Stores the sizes of volumes, every ten minutes on one of the servers. The engine counts all volumes in one call. Where that takes too long, and for volumes
 * that it cannot count, each is measured alone, the one that was measured longest ago first; what does not fit into a pass comes first in the next one.
 */
export async function measureVolumes(parts: MeasureParts, options: MeasureOptions = {}, signal?: AbortSignal): Promise<void> {
  const { database, runtime } = parts
  const { db } = database
  if (runtime.volumes === undefined || !(await claimMeasurement(db))) return
  const written = await readWritten(db)
  const sizes = await measureAll(parts, runtime.volumes, signal)
  await storeSizes(db, sizes, written)
  await measureAlone(parts, runtime.volumes, { counted: sizes, aloneMs: options.aloneMs ?? ALONE_MS, signal })
}

/** Empty where the engine is too slow. */
async function measureAll(
  { database: { db }, log }: MeasureParts,
  volumes: VolumeStore,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql`
    select from server_setting where name = ${SLOW_UNTIL} and value::timestamptz > clock_timestamp()
  `.execute(db)
  if (rows.length > 0) return new Map()
  const options = { what: 'the measurement of the volumes', timeoutMs: MEASURE_TIMEOUT_MS, ...(signal && { signal }) }
  try {
    return await within(options, (ending) => volumes.sizes(ending))
  } catch (err) {
    if (!isAppError(err, 'deadline_exceeded')) throw err
    log.info({ err }, 'the engine is too slow to measure all volumes at once: for some hours each is measured alone')
    await sql`
      insert into server_setting (name, value) values (${SLOW_UNTIL}, (clock_timestamp() + make_interval(secs => ${SLOW_SECONDS}))::text)
      on conflict (name) do update set value = excluded.value
    `.execute(db)
    return new Map()
  }
}

interface AloneOptions {
  /** Those of all volumes that the engine has counted. */
  readonly counted: ReadonlyMap<string, number>
  readonly aloneMs: number
  readonly signal: AbortSignal | undefined
}

async function measureAlone(parts: MeasureParts, volumes: VolumeStore, { counted, aloneMs, signal }: AloneOptions): Promise<void> {
  const { db } = parts.database
  const end = performance.now() + aloneMs
  for (const volumeId of await findUncounted(db, counted)) {
    // Before: one that ends its server, or is too large, does not hold up the others.
    const written = await noteAttempt(db, volumeId)
    if (written !== undefined) await measureOne(parts, volumes, { volumeId, written, signal })
    if (performance.now() >= end || isAborted(signal)) return
  }
}

interface OneOptions {
  readonly volumeId: string
  /** To the volume, before it is measured. */
  readonly written: number
  readonly signal: AbortSignal | undefined
}

async function measureOne({ database: { db }, log }: MeasureParts, volumes: VolumeStore, one: OneOptions): Promise<void> {
  const { volumeId, written, signal } = one
  try {
    const options = { what: 'the measurement of a volume', timeoutMs: ONE_TIMEOUT_MS + START_MS, ...(signal && { signal }) }
    const bytes = await within(options, (ending) => volumes.sizeOf(volumeId, ONE_TIMEOUT_MS, ending))
    await storeSizes(db, new Map([[volumeId, bytes]]), new Map([[volumeId, written]]))
  } catch (err) {
    // A volume without files yet has none.
    if (!isAborted(signal) && !isAppError(err, 'not_found')) log.warn({ err, volumeId }, 'a volume could not be measured')
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

async function findUncounted(db: Db, counted: ReadonlyMap<string, number>): Promise<string[]> {
  const rows = await db
    .selectFrom('volume')
    .select('volume_id')
    .where('deleted_at', 'is', null)
    .where((eb) => eb.not(eb('volume_id', '=', sql<string>`any(${[...counted.keys()].filter((name) => isUuid(name))}::uuid[])`)))
    .orderBy('measured_at', (order) => order.asc().nullsFirst())
    .orderBy('volume_id')
    .limit(MAX_ALONE)
    .execute()
  return rows.map((row) => row.volume_id)
}

/** What was written to the volume until now; undefined when it was deleted meanwhile. */
async function noteAttempt(db: Db, volumeId: string): Promise<number | undefined> {
  const row = await db
    .updateTable('volume')
    .set({ measured_at: sql<Date>`clock_timestamp()` })
    .where('volume_id', '=', volumeId)
    .where('deleted_at', 'is', null)
    .returning('written_bytes')
    .executeTakeFirst()
  return row?.written_bytes
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
    insert into server_setting as setting (name, value) values (${CLAIM}, clock_timestamp()::text)
    on conflict (name) do update set value = excluded.value
    where setting.value::timestamptz < clock_timestamp() - make_interval(secs => ${MEASURE_EVERY_SECONDS})
    returning name
  `.execute(db)
  return rows.length > 0
}
