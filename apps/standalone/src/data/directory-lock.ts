/**
 * One server for one data directory. The lock is the kernel's (`flock`) on an open file, so it ends with the process that holds
 * it, however that ends: a lock can never be stale, and two starters cannot both win. The file's text only says who holds it.
 * Node cannot call `flock` itself; the util-linux program of that name takes the lock on a descriptor that it inherits, and a lock
 * belongs to the open file, so it outlives the program.
 */
import { spawnSync } from 'node:child_process'
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { StartFailure } from '../failures/start-failure.ts'

/** Frees the lock when it is disposed. */
export type DirectoryLock = Disposable

const TAKEN_BY_ANOTHER = 1

/** @throws StartFailure when another process holds the lock */
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
