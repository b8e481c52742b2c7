import { AppError } from '@sandyard/kit/errors/app-error'

const MAX_LENGTH = 128
const NAME = /^[a-zA-Z0-9_-]+$/

/** Whether a volume can have this name. Names are case-sensitive. */
export function isVolumeName(name: string): boolean {
  return name.length <= MAX_LENGTH && NAME.test(name)
}

/** @throws AppError `invalid_argument` (control-plane.md 15.2) */
export function checkVolumeName(name: string): void {
  if (!isVolumeName(name)) throw new AppError('invalid_argument', 'Invalid volume name')
}
