import { AppError } from '@sandyard/kit/errors/app-error'

const SNAPSHOT_NAME = /^[a-z0-9][a-z0-9_.-]{0,99}$/

/** @throws AppError `invalid_argument` for an invalid name */
export function checkSnapshotName(name: string): void {
  if (!SNAPSHOT_NAME.test(name)) throw new AppError('invalid_argument', `"${name}" is not a name for a snapshot.`)
}
