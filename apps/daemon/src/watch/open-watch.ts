import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { toBytePath } from '../filesystem/byte-path.ts'
import { errnoCode, errnoText } from '../sys/errno-text.ts'
import { cleanPath } from '../users/path-parts.ts'
import type { AcceptedDirectory } from './acceptance.ts'
import type { InotifyHub } from './inotify-hub.ts'
import type { Change } from './watch-event.ts'

export interface WatchOptions {
  readonly directory: AcceptedDirectory
  readonly recursive: boolean
  /** Takes the changes in their order, one at a time. What it throws ends the watch. */
  readonly deliver: (change: Change) => Promise<void> | void
  /** The watch has ended by itself. */
  readonly onFailure: (error: AppError) => void
}

export interface Watch {
  /** Settles when every change that has happened by now has been delivered. */
  caughtUp(): Promise<void>
  /** Nothing is delivered any more. */
  close(): void
}

/**
 * Watches a directory. Every change after this settles is delivered.
 *
 * @throws AppError in the words of envd.md 7.8
 */
export async function openWatch(options: WatchOptions, openHub: () => Promise<InotifyHub>): Promise<Watch> {
  const { directory, recursive, deliver, onFailure } = options
  const root = toBytePath(cleanPath(directory.path))
  const { WatchedTree } = await import('./watched-tree.ts')
  const tree = new WatchedTree(await openHub(), { root, recursive, deliver, onFailure })
  await tree.arm().catch((error: unknown) => {
    throw isAppError(error) ? error : notAdded(directory.path, error)
  })
  return tree
}

/** That a recursive watch does not follow a link is said in the wire's words. */
function notAdded(path: string, cause: unknown): AppError {
  const reason = errnoCode(cause) === 'ENOTDIR' ? `fsnotify: not a directory: ${JSON.stringify(cleanPath(path))}` : errnoText(cause)
  return new AppError('internal', `error adding path ${path} to watcher: ${reason}`, { cause })
}
