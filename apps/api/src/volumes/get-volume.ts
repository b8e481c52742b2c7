import type { Db } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import { isUuid } from '@sandyard/kit/ids/uuid'
import { volumeNotFound } from './volume-errors.ts'
import { findVolume, markDeleted, type Volume } from './volume-queries.ts'

/** @throws AppError with the texts of control-plane.md 15.2 */
export async function getVolume(db: Db, teamId: string, givenId: string): Promise<Volume> {
  const volume = await findVolume(db, teamId, readVolumeId(givenId))
  if (volume === undefined) throw volumeNotFound()
  return volume
}

/**
 * Deletes the record of a volume; its files are removed later, once no sandbox has it (control-plane.md 15.2).
 *
 * @throws AppError with the texts of control-plane.md 15.2
 */
export async function deleteVolume(db: Db, teamId: string, givenId: string): Promise<void> {
  if (!(await markDeleted(db, teamId, readVolumeId(givenId)))) throw volumeNotFound()
}

function readVolumeId(text: string): string {
  if (!isUuid(text)) throw new AppError('invalid_argument', 'Invalid volume ID')
  return text.toLowerCase()
}
