import { sql } from 'kysely'
import type { Db, Tx } from '@sandyard/db/database'
import { isServerAlive } from '@sandyard/db/server-lease'
import { secondsAgo } from '@sandyard/db/statement-time'
import type { SandboxEndpoint, SandboxRef } from '@sandyard/runtime/types'
import { STALE_START_SECONDS } from '../sandboxes/sandbox-queries.ts'
import { isEngineOf } from '../servers/engine-binding.ts'
import { parkedMemoryMib, type ParkedRow, type WantedBuild } from './plan-pool.ts'
import type { Waiting, WaitingShare } from './usage-check.ts'

/** Cap of one look at the pool, and so of the pool. */
export const MOST_PARKED = 2000
/** Another server may still run a removal that is younger. */
const STALE_REMOVAL_SECONDS = 5
const now = sql<Date>`clock_timestamp()`

/** The rows that are parked or being started, oldest first, as the server that would start them in this generation sees them. */
export async function listParked(
  db: Db,
  { generation, serverId }: { readonly generation: string; readonly serverId: number },
): Promise<ParkedRow[]> {
  const isAlive = isServerAlive(sql.ref('parked_sandbox.server_id'))
  const rows = await db
    .selectFrom('parked_sandbox')
    .select(['sandbox_id', 'incarnation', 'build_id', 'state', 'generation', 'memory_mib', 'server_id'])
    .select((eb) => [
      isAlive.as('is_alive'),
      eb('expires_at', '<=', now).as('is_expired'),
      eb('state_changed_at', '<', secondsAgo(STALE_START_SECONDS)).as('is_old'),
    ])
    .where('state', 'in', ['parking', 'parked'])
    .orderBy('state_changed_at')
    .limit(MOST_PARKED)
    .$narrowType<{ state: 'parking' | 'parked' }>()
    .execute()
  return rows.map((row) => {
    const isCurrent = row.generation === generation
    const isOurs = row.server_id === serverId || !row.is_alive
    const isStale = row.state === 'parking' ? !row.is_alive || row.is_old : row.is_expired || (!isCurrent && isOurs)
    const { sandbox_id: sandboxId, incarnation, build_id: buildId, state, memory_mib: memoryMib } = row
    return { sandboxId, incarnation, buildId, state, memoryMib, isCurrent, isOurs, isStale: Boolean(isStale) }
  })
}

export interface NewParking {
  readonly wanted: WantedBuild
  readonly ref: SandboxRef
  readonly generation: string
  readonly serverId: number
  readonly maxAgeMs: number
}

/** The row comes first: a sandbox without a row is an orphan. */
export async function insertParking(tx: Tx, { wanted, ref, generation, serverId, maxAgeMs }: NewParking): Promise<void> {
  await tx
    .insertInto('parked_sandbox')
    .values({
      sandbox_id: ref.sandboxId,
      incarnation: ref.incarnation,
      template_id: wanted.templateId,
      build_id: wanted.build.buildId,
      generation,
      state: 'parking',
      server_id: serverId,
      memory_mib: parkedMemoryMib(wanted.build),
      expires_at: sql<Date>`clock_timestamp() + make_interval(secs => ${maxAgeMs / 1000})`,
    })
    .execute()
}

/** It has started and waits. False when it was given up meanwhile, or the lease of this server has ended. */
export async function markParked(
  tx: Tx,
  ref: SandboxRef,
  { endpoint, serverId }: { readonly endpoint: SandboxEndpoint; readonly serverId: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('parked_sandbox')
    .set({ state: 'parked', state_changed_at: now, endpoint_host: endpoint.host, endpoint_daemon_port: endpoint.daemonPort })
    .where('sandbox_id', '=', ref.sandboxId)
    .where('state', '=', 'parking')
    .where(isServerAlive(sql`${serverId}::int`))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** No create claims them any more. Returns those that this call has changed: their caller frees them. */
export async function giveUpParked(db: Db, refs: readonly SandboxRef[]): Promise<Waiting[]> {
  if (refs.length === 0) return []
  const rows = await db
    .updateTable('parked_sandbox')
    .set({ state: 'removing', state_changed_at: now })
    .where(
      'sandbox_id',
      'in',
      refs.map(({ sandboxId }) => sandboxId),
    )
    .where('state', '<>', 'removing')
    .returning(['sandbox_id', 'incarnation', 'build_id'])
    .execute()
  return rows.map((row) => ({ ...refOf(row), buildId: row.build_id }))
}

/**
 * What they use counts against the memory of the pool. A claim passes by rows that are locked, so only changed ones are, and for no longer than the
 * statement: nothing waits for the disk.
 */
export async function storeMemory(db: Db, memoryMib: ReadonlyMap<string, number>): Promise<void> {
  if (memoryMib.size === 0) return
  await sql`
    with used as (
      select sandbox_id, mib from unnest(${[...memoryMib.keys()]}::text[], ${[...memoryMib.values()]}::int[]) as used (sandbox_id, mib)
    ), changed as (
      select sandbox_id, mib from parked_sandbox join used using (sandbox_id) where state = 'parked' and memory_mib <> mib
      for update of parked_sandbox skip locked
    )
    update parked_sandbox set memory_mib = mib from changed where parked_sandbox.sandbox_id = changed.sandbox_id
    returning set_config('synchronous_commit', 'off', true)
  `.execute(db)
}

/** Like {@link giveUpParked}, of those that have waited the longest. */
export async function giveUpOldest(db: Db, most: number): Promise<SandboxRef[]> {
  const rows = await db
    .updateTable('parked_sandbox')
    .set({ state: 'removing', state_changed_at: now })
    .where('sandbox_id', 'in', (eb) =>
      eb
        .selectFrom('parked_sandbox')
        .select('sandbox_id')
        .where('state', '=', 'parked')
        .orderBy('state_changed_at')
        .limit(most)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['sandbox_id', 'incarnation'])
    .execute()
  return rows.map(refOf)
}

/** Like {@link giveUpParked}, of all rows, also those that are being freed, if no other server lives. */
export async function giveUpUnserved(
  db: Db,
  { serverId, engineId }: { readonly serverId: number; readonly engineId: string },
): Promise<SandboxRef[]> {
  const rows = await db
    .updateTable('parked_sandbox')
    .set({ state: 'removing', state_changed_at: now })
    .where(isEngineOf(engineId))
    .where(sql<boolean>`not exists (select from server where server_id <> ${serverId} and lease_until > clock_timestamp())`)
    .returning(['sandbox_id', 'incarnation'])
    .execute()
  return rows.map(refOf)
}

/** Those that were given up and are not freed, as after the end of a server. Each is taken by one server. */
export async function takeUnremoved(db: Db): Promise<SandboxRef[]> {
  const rows = await db
    .updateTable('parked_sandbox')
    .set({ state_changed_at: now })
    .where('sandbox_id', 'in', (eb) =>
      eb
        .selectFrom('parked_sandbox')
        .select('sandbox_id')
        .where('state', '=', 'removing')
        .where('state_changed_at', '<', secondsAgo(STALE_REMOVAL_SECONDS))
        .orderBy('state_changed_at')
        .limit(MOST_PARKED)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['sandbox_id', 'incarnation'])
    .execute()
  return rows.map(refOf)
}

/** It is freed. */
export async function deleteParked(db: Db, { sandboxId, incarnation }: SandboxRef): Promise<void> {
  await db
    .deleteFrom('parked_sandbox')
    .where('sandbox_id', '=', sandboxId)
    .where('incarnation', '=', incarnation)
    .where('state', '=', 'removing')
    .execute()
}

/** Those that wait for a claim. */
export async function listWaiting(db: Db): Promise<WaitingShare[]> {
  const rows = await db
    .selectFrom('parked_sandbox')
    .leftJoin('build', 'build.build_id', 'parked_sandbox.build_id')
    .select(['sandbox_id', 'incarnation', 'parked_sandbox.build_id', 'build.memory_mib as limit_mib'])
    .where('state', '=', 'parked')
    .limit(MOST_PARKED)
    .execute()
  return rows.map((row) => ({ ...refOf(row), buildId: row.build_id, shareMib: parkedMemoryMib({ memoryMib: row.limit_mib ?? 0 }) }))
}

/** The refs that have a row in the pool. */
export async function parkedOf(db: Db, sandboxIds: readonly string[]): Promise<SandboxRef[]> {
  if (sandboxIds.length === 0) return []
  const rows = await db
    .selectFrom('parked_sandbox')
    .select(['sandbox_id', 'incarnation'])
    .where('sandbox_id', 'in', [...sandboxIds])
    .execute()
  return rows.map(refOf)
}

/** Those that a create has claimed, also if they have ended since. Others that are not in the pool any more were given up. */
export async function claimedOf(db: Db, sandboxIds: readonly string[]): Promise<ReadonlySet<string>> {
  const ids = sql<string>`any(${sandboxIds}::text[])`
  const rows = await db
    .selectFrom('sandbox')
    .select('sandbox_id')
    .where('sandbox_id', '=', ids)
    .unionAll(db.selectFrom('sandbox_history').select('sandbox_id').where('sandbox_id', '=', ids))
    .execute()
  return new Set(rows.map((row) => row.sandbox_id))
}

function refOf(row: { readonly sandbox_id: string; readonly incarnation: number }): SandboxRef {
  return { sandboxId: row.sandbox_id, incarnation: row.incarnation }
}
