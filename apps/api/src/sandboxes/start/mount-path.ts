import { posix } from 'node:path'

/** A mount point without repeated slashes and without one at its end. */
export function cleanMountPath(path: string): string {
  return posix.normalize(path).replace(/(?<=.)\/$/, '')
}
