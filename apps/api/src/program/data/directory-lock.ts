/**
 * Ensures one server for each data directory. It is a kernel lock (`flock`) on an open file, which the kernel releases when its owner
 * ends for any reason: a lock is never stale, and two concurrent starts cannot both succeed. The text of the file only names the owner.
 * Node cannot call `flock` itself; the util-linux program of that name locks a descriptor that it inherits. A lock belongs to the open
 * file, so it outlives the program.
 */
import { spawnSync } from 'node:child_process'
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { StartFailure } from '../failures/start-failure.ts'

/** Releases the lock on dispose. */
export type DirectoryLock = Disposable

const TAKEN_BY_ANOTHER = 1

/** @throws StartFailure when another process has the lock */
export function lockDirectory(file: string): DirectoryLock {
  const descriptor = openSync(file, 'a+', 0o600)
  const { status, error } = spawnSync('flock', ['--exclusive', '--nonblock', '3'], { stdio: ['ignore', 'ignore', 'ignore', descriptor] })
  if (status !== 0) {
    const holder = readFileSync(file, 'utf8').trim()
    closeSync(descriptor)
    throw status === TAKEN_BY_ANOTHER ? taken(dirname(file), holder) : noFlock(error)
  }
  ftruncateSync(descriptor)
  writeSync(descriptor, `${process.pid}\n`)
  return { [Symbol.dispose]: () => closeSync(descriptor) }
}

function taken(directory: string, holder: string): StartFailure {
  const who = /^\d+$/.test(holder) ? `process ${holder}` : 'another process'
  return new StartFailure(
    `Sandyard already runs with the data in ${directory} (${who}): stop it first, or choose another directory with SANDYARD_DATA_DIR.`,
  )
}

function noFlock(cause: Error | undefined): StartFailure {
  return new StartFailure('The program "flock" is missing: install the package util-linux and run this again.', { cause })
}
