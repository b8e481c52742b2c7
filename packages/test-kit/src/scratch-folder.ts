import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const MEMORY = '/dev/shm'
const WANTED_BYTES = 4 * 1024 ** 3

/** All that `scratchFolder` may return. */
export const SCRATCH_FOLDERS: readonly string[] = [MEMORY, tmpdir()]

/** Where test servers keep data that need not survive: in memory where the machine has room, because a test database is 300 new files. */
export function scratchFolder(): string {
  return process.availableMemory() >= WANTED_BYTES && freeBytes(MEMORY) >= WANTED_BYTES ? MEMORY : tmpdir()
}

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return 0
  }
}
