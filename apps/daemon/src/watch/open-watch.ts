import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { toBytePath } from '../filesystem/byte-path.ts'
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
  /** Takes the changes in their order, one at a time. What it keeps of them counts for the backlog. What it throws ends the watch. */
  readonly deliver: (change: Change, backlog: BacklogShare) => Promise<void> | void
  /** The watch has ended by itself. What is kept of it is to be dropped. */
  readonly onFailure: (error: AppError) => void
}

/** What all watchers have in common. */
export interface SharedByWatches {
  readonly backlog: Backlog
  readonly allowance: PollingAllowance
  readonly openHub: () => Promise<InotifyHub>
}

export interface Watch {
  /** Settles when every change that has happened by now has been delivered; on a network file system, that has been seen by now. */
  caughtUp(): Promise<void>
  /** Nothing is delivered any more. */
  close(): void
}

/**
 * Watches a directory: by the kernel's events, or on a network file system, where the kernel knows nothing of what others do, by looking at
 * it every second. Every change after this settles is delivered.
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
  const tree = new WatchedTree(await shared.openHub(), { root: toBytePath(root), ...options })
  await tree.arm()
  return tree
}

/** That a recursive watch does not follow a link is said in the wire's words. */
function notAdded(path: string, cause: unknown): AppError {
  const reason = errnoCode(cause) === 'ENOTDIR' ? `fsnotify: not a directory: ${JSON.stringify(cleanPath(path))}` : errnoText(cause)
  return new AppError('internal', `error adding path ${path} to watcher: ${reason}`, { cause })
}
