import { randomUUID } from 'node:crypto'
import type { Database } from '@sandyard/db/database'
import { within } from '@sandyard/kit/async/within'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { VolumeStore } from '@sandyard/runtime/volume-store'
import type { Actor } from '../events/actor.ts'
import { createOnceInTeam } from '../idempotency/create-once.ts'
import type { OnceRequest } from '../idempotency/remembered-answer.ts'
import type { StorageLimits } from '../teams/storage-limits.ts'
import { checkStored } from '../teams/stored-bytes.ts'
import type { LockedTeam } from '../teams/team-transaction.ts'
import { volumeNotFound } from './volume-errors.ts'
import { countDeleted, countVolumes, findVolume, insertVolume, markDeleted, type Volume } from './volume-queries.ts'
import { checkVolumeName } from './volume-name.ts'

export interface VolumeWish extends OnceRequest {
  /** Those of the settings. */
  readonly storage: StorageLimits
  readonly name: string
  readonly actor: Actor
}

/** A list of volumes is not paged (control-plane.md 1.13). */
const MAX_VOLUMES = 1000
/** Their files are removed one after the other. */
const MAX_DELETED = 2000
const CREATE_TIMEOUT_MS = 45_000

/**
 * Creates an empty volume. The row is first. When the engine fails, the row is deleted again; a request with an idempotency key keeps it, so that
 * its repeat goes on. A process that dies between both leaves a volume that is made when it is first used.
 *
 * @throws AppError with the texts of control-plane.md 15.2; `resource_exhausted` for more than a thousand volumes, or two thousand deleted ones whose files are there;
 * `insufficient_storage` above the stored bytes of the team; the errors of the runtime
 */
export async function createVolume(database: Database, store: VolumeStore, wish: VolumeWish): Promise<Volume> {
  checkVolumeName(wish.name)
  const volume = await createOnceInTeam(database, wish, (team) => insert(team, wish))
  // A repeat must not bring back one that was deleted meanwhile.
  if (wish.idempotent !== undefined && (await findVolume(database.db, wish.ownerId, volume.volumeId)) === undefined) throw volumeNotFound()
  try {
    const what = 'the creation of the volume'
    await within({ what, timeoutMs: CREATE_TIMEOUT_MS }, (signal) => store.create(volume.volumeId, signal))
  } catch (err) {
    if (wish.idempotent === undefined) await markDeleted(database.db, wish.ownerId, volume.volumeId)
    throw err
  }
  return volume
}

async function insert({ tx, id: teamId }: LockedTeam, { name, actor, storage }: VolumeWish): Promise<Volume> {
  const volume = { volumeId: randomUUID(), name }
  if (!(await insertVolume(tx, { ...volume, teamId, actor }))) {
    throw new AppError('invalid_argument', `Volume with name '${name}' already exists`)
  }
  if ((await countVolumes(tx, teamId)) > MAX_VOLUMES) {
    throw new AppError('resource_exhausted', `The team has ${MAX_VOLUMES} volumes, and there cannot be more: delete some`)
  }
  if ((await countDeleted(tx, teamId)) >= MAX_DELETED) {
    throw new AppError(
      'resource_exhausted',
      `The files of ${MAX_DELETED} deleted volumes of the team are not removed yet: try again in some minutes`,
      {
        headers: { 'retry-after': '60' },
      },
    )
  }
  await checkStored(tx, storage, { teamId, sizeBytes: 0, replacedBytes: 0 })
  return volume
}
