import { AppError } from '@sandyard/kit/errors/app-error'
import { errnoText } from '../sys/errno-text.ts'
import { MAX_POLLED_ENTRIES } from './polling-allowance.ts'

/**
 * The cap for events that a client has not taken: four times the kernel's own queue (`fs.inotify.max_queued_events`), because that one may
 * be emptied into it at once. About ten megabytes.
 */
export const MAX_BEHIND = 65_536

/** Events were lost: the kernel's queue or that of a watcher overflowed (envd.md 7.9). */
export function queueOverflow(): AppError {
  return new AppError('internal', 'watcher error: fsnotify: queue or buffer overflow')
}

/** A running watcher has failed. */
export function watcherFailure(cause: unknown): AppError {
  return new AppError('internal', `watcher error: ${errnoText(cause)}`, { cause })
}

/** All watchers of network file systems together have too many entries to poll. */
export function tooMuchToPoll(): AppError {
  const most = `all watchers together watch at most ${MAX_POLLED_ENTRIES} entries of network filesystems`
  return new AppError('resource_exhausted', `${most}: watch a smaller directory`)
}
