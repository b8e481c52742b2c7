import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { errnoCode, errnoText } from '../sys/errno-text.ts'
import { cleanPath } from '../users/path-parts.ts'
import type { AcceptedDirectory } from './acceptance.ts'
import type { Backlog, BacklogShare } from './backlog.ts'
import type { InotifyHub } from './inotify-hub.ts'
import type { PollingAllowance } from './polling-allowance.ts'
import type { Change } from './watch-event.ts'

export interface WatchOptions {
  readonly directory: AcceptedDirectory
  readonly recursive: boolean
  /** Receives the changes in order, one at a time. Changes that it buffers count in the backlog. An error that it throws ends the watch. */
  readonly deliver: (change: Change, backlog: BacklogShare) => Promise<void> | void
  /** The watch has failed. The receiver must drop its buffered changes. */
  readonly onFailure: (error: AppError) => void
}

/** Shared by all watchers. */
export interface SharedByWatches {
  readonly backlog: Backlog
  readonly allowance: PollingAllowance
  readonly openHub: () => Promise<InotifyHub>
}

export interface Watch {
  /** Resolves when every change up to now has been delivered; on a network file system every change that a poll has detected. */
  caughtUp(): Promise<void>
  /** Stops delivery. */
  close(): void
}

/**
 * Watches a directory by inotify, or on a network file system by polling it every second. Every change after this resolves is delivered.
 *
 * @throws AppError in the words of envd.md 7.8
 */
export async function openWatch(options: WatchOptions, shared: SharedByWatches): Promise<Watch> {
  const { path } = options.directory
  return openTree(options, shared).catch((error: unknown) => {
    throw isAppError(error) ? error : notAdded(path, error)
  })
}

async function openTree({ directory, ...options }: WatchOptions, shared: SharedByWatches): Promise<Watch> {
  const root = cleanPath(directory.path)
  if (directory.isNetwork) {
    const { NetworkTree } = await import('./network-tree.ts')
    return NetworkTree.open({ root, ...options }, shared)
  }
  const { WatchedTree } = await import('./watched-tree.ts')
  const tree = new WatchedTree(await shared.openHub(), { root: root, ...options })
  await tree.arm()
  return tree
}

/** A recursive watch does not follow a link; upstream's text for that. */
function notAdded(path: string, cause: unknown): AppError {
  const reason = errnoCode(cause) === 'ENOTDIR' ? `fsnotify: not a directory: ${JSON.stringify(cleanPath(path))}` : errnoText(cause)
  return new AppError('internal', `error adding path ${path} to watcher: ${reason}`, { cause })
}
