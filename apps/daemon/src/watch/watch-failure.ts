import { AppError } from '@sandyard/kit/errors/app-error'
import { errnoText } from '../sys/errno-text.ts'

/**
 * How many events a watcher may hold that its client has not taken: four times the kernel's own queue (`fs.inotify.max_queued_events`), since
 * the kernel's may be emptied into it at once. Some ten megabytes.
 */
export const MAX_BEHIND = 65_536

/** Events were lost: the kernel's queue ran over, or a watcher's own (envd.md 7.9). */
export function queueOverflow(): AppError {
  return new AppError('internal', 'watcher error: fsnotify: queue or buffer overflow')
}

/** A watcher that already runs cannot go on. */
export function watcherFailure(cause: unknown): AppError {
  return new AppError('internal', `watcher error: ${errnoText(cause)}`, { cause })
}
