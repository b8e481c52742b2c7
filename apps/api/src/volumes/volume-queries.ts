import { sql } from 'kysely'
import type { Db, Tx } from '@sandyard/db/database'
import type { Actor } from '../events/actor.ts'

/** A volume that is not deleted. */
export interface Volume {
  readonly volumeId: string
  readonly name: string
}

export interface NewVolumeRow extends Volume {
  readonly teamId: string
  readonly actor: Actor
}

/** All volumes of a team, the oldest first. */
export async function listVolumes(db: Db, teamId: string): Promise<Volume[]> {
  return db
    .selectFrom('volume')
    .select(['volume_id as volumeId', 'name'])
    .where('team_id', '=', teamId)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .orderBy('volume_id')
    .execute()
}

export async function findVolume(db: Db, teamId: string, volumeId: string): Promise<Volume | undefined> {
  return db
    .selectFrom('volume')
    .select(['volume_id as volumeId', 'name'])
    .where('volume_id', '=', volumeId)
    .where('team_id', '=', teamId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
}

export async function findVolumesByName(db: Db, teamId: string, names: readonly string[]): Promise<Volume[]> {
  if (names.length === 0) return []
  return db
    .selectFrom('volume')
    .select(['volume_id as volumeId', 'name'])
    .where('team_id', '=', teamId)
    .where('name', 'in', [...names])
    .where('deleted_at', 'is', null)
    .execute()
}

/**
 * Locks volumes against their deletion until the end of the transaction.
 *
 * @returns the ids of those that are not deleted
 */
export async function holdVolumes(tx: Tx, teamId: string, volumeIds: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await tx
    .selectFrom('volume')
    .select('volume_id')
    .where('volume_id', 'in', [...volumeIds])
    .where('team_id', '=', teamId)
    .where('deleted_at', 'is', null)
    .forShare()
    .execute()
  return new Set(rows.map((row) => row.volume_id))
}

export async function countVolumes(db: Db, teamId: string): Promise<number> {
  const { count } = await db
    .selectFrom('volume')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

/** Deleted ones whose files are not removed yet. */
export async function countDeleted(db: Db, teamId: string): Promise<number> {
  const { count } = await db
    .selectFrom('volume')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', teamId)
    .where('deleted_at', 'is not', null)
    .executeTakeFirstOrThrow()
  return count
}

/** False when the team has a volume with the name. */
export async function insertVolume(tx: Tx, { volumeId, teamId, name, actor }: NewVolumeRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('volume')
    .values({ volume_id: volumeId, team_id: teamId, name, created_by: JSON.stringify(actor) })
    .onConflict((conflict) => conflict.columns(['team_id', 'name']).where('deleted_at', 'is', null).doNothing())
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Deletes the record. Its files are removed later. False when the team has no such volume. */
export async function markDeleted(db: Db, teamId: string, volumeId: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('volume')
    .set({ deleted_at: sql<Date>`clock_timestamp()` })
    .where('volume_id', '=', volumeId)
    .where('team_id', '=', teamId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
