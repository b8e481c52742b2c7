import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeDataDirectory, type DataDirectory } from '@sandyard/api/program/data/data-directory'
import type { CliParts } from '../cli-parts.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'

/** The checkout that this program belongs to. */
export const CHECKOUT = join(import.meta.dirname, '../../../..')

/** The data directory of `npm start`: that of the settings, else `.sandyard` of the checkout. */
export function serverDirectory({ connection }: CliParts): DataDirectory {
  return connection.directory ?? describeDataDirectory(join(CHECKOUT, '.sandyard'))
}

/**
 * The pid of the server that runs with this data directory; undefined when there is none. The server holds a kernel lock on the file, so its
 * pid is never a stale one.
 *
 * @throws CliFailure `failed` when the program `flock` is missing
 */
export function findServerPid({ lockFile }: DataDirectory): number | undefined {
  let descriptor: number
  try {
    descriptor = openSync(lockFile, 'r')
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw err
  }
  try {
    const { status } = spawnSync('flock', ['--shared', '--nonblock', '3'], { stdio: ['ignore', 'ignore', 'ignore', descriptor] })
    if (status === 0) return undefined
    if (status === null)
      throw new CliFailure(EXIT.failed, 'The program "flock" is missing: install the package util-linux and run this again.')
    const pid = Number(readFileSync(lockFile, 'utf8').trim())
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
  } finally {
    closeSync(descriptor)
  }
}
