/** Importing this module loads chokidar, so import it only when needed. */
import type { Stats } from 'node:fs'
import { lstat, realpath } from 'node:fs/promises'
import { EventType } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { type AppError, isAppError } from '@sandyard/kit/errors/app-error'
import type { ChokidarOptions, FSWatcher, watch } from 'chokidar'
import type { Backlog, BacklogShare } from './backlog.ts'
import type { PollingAllowance } from './polling-allowance.ts'
import { SerialQueue } from './serial-queue.ts'
import { statsEventType } from './stats-event-type.ts'
import type { Change } from './watch-event.ts'
import { queueOverflow, tooMuchToPoll, watcherFailure } from './watch-failure.ts'

export interface NetworkTreeOptions {
  /** Without a slash at its end. */
  readonly root: string
  readonly recursive: boolean
  /** Receives the changes in order, one at a time. */
  readonly deliver: (change: Change, backlog: BacklogShare) => Promise<void> | void
  /** The watch has ended and is closed. */
  readonly onFailure: (error: AppError) => void
}

/** Shared by all watchers. */
export interface SharedByPolling {
  readonly backlog: Backlog
  readonly allowance: PollingAllowance
}

/** How often each entry is polled. */
const INTERVAL_MS = 1000
const POLLING: ChokidarOptions = {
  usePolling: true,
  interval: INTERVAL_MS,
  binaryInterval: INTERVAL_MS,
  // The first scan must report the existing entries: later ones are compared with them.
  ignoreInitial: false,
  alwaysStat: true,
  awaitWriteFinish: false,
  atomic: false,
  followSymlinks: false,
  ignorePermissionErrors: true,
  persistent: false,
}

/**
 * One watcher of a directory on a network file system. inotify does not report changes that other machines make there, so all entries are
 * polled (envd.md 15). A file that is created and deleted between two polls is not reported, a rename is REMOVE and CREATE, and a change of
 * attributes alone is not reported.
 */
export class NetworkTree {
  readonly #options: NetworkTreeOptions
  /** The last known stats by path relative to the root; without the root. */
  readonly #entries = new Map<string, Stats>()
  readonly #queue = new SerialQueue((error) => this.#fail(error))
  readonly #armed = Promise.withResolvers<void>()
  readonly #backlog: BacklogShare
  readonly #allowance: PollingAllowance
  #watcher: FSWatcher | undefined
  #isArmed = false
  #isClosed = false

  private constructor(options: NetworkTreeOptions, { backlog, allowance }: SharedByPolling) {
    this.#options = options
    this.#allowance = allowance
    this.#backlog = backlog.open(() => this.#fail(queueOverflow()))
  }

  /**
   * Every change after this resolves is delivered once a poll detects it.
   *
   * @throws the system error of the root or of anything below; `ENOTDIR` also for a link if the watch is recursive
   * @throws AppError if there are too many entries to poll
   */
  static async open(options: NetworkTreeOptions, shared: SharedByPolling): Promise<NetworkTree> {
    const { root, recursive } = options
    if (recursive && (await lstat(root)).isSymbolicLink()) throw Object.assign(new Error('a link'), { code: 'ENOTDIR' })
    const cwd = await realpath(root)
    // Few sandboxes need the polling library. Where it cannot be loaded the next watch tries again.
    const { watch } = await import('chokidar')
    const tree = new NetworkTree(options, shared)
    tree.#start(cwd, watch)
    await tree.#armed.promise
    return tree
  }

  /** Resolves when every change that was detected up to now has been delivered. Undetected changes cannot be waited for. */
  caughtUp(): Promise<void> {
    return this.#queue.settled()
  }

  close(): void {
    this.#isClosed = true
    this.#backlog.close()
    this.#stop()
  }

  #start(cwd: string, startPolling: typeof watch): void {
    const depth = this.#options.recursive ? {} : { depth: 0 }
    this.#watcher = startPolling('.', { ...POLLING, ...depth, cwd })
      .on('add', (path, stats) => this.#appear(path, stats))
      .on('addDir', (path, stats) => this.#appear(path, stats))
      .on('change', (path, stats) => this.#change(path, stats))
      .on('unlink', (path) => this.#vanish(path))
      .on('unlinkDir', (path) => this.#vanish(path))
      .on('error', (error) => this.#fail(error))
      .on('ready', () => {
        this.#isArmed = true
        this.#armed.resolve()
      })
  }

  #appear(path: string, stats: Stats | undefined): void {
    if (this.#isClosed || path === '' || stats === undefined) return
    if (!this.#entries.has(path) && !this.#allowance.take()) {
      this.#fail(tooMuchToPoll())
      return
    }
    this.#entries.set(path, stats)
    this.#report(path, EventType.CREATE)
  }

  #change(path: string, stats: Stats | undefined): void {
    const before = this.#entries.get(path)
    if (before === undefined || stats === undefined) return
    this.#entries.set(path, stats)
    const type = statsEventType(before, stats)
    if (type !== undefined) this.#report(path, type)
  }

  #vanish(path: string): void {
    if (this.#entries.delete(path)) this.#allowance.giveBack(1)
    this.#report(path === '' ? '.' : path, EventType.REMOVE)
    if (path !== '') return
    // The root was removed. A directory that is created in its place is another one (envd.md 7.9).
    this.#stop()
    this.#armed.resolve()
  }

  /** Entries that exist when the watch starts are not reported. */
  #report(path: string, type: EventType): void {
    if (!this.#isArmed || this.#isClosed) return
    this.#backlog.add()
    this.#queue.push(() => {
      this.#backlog.remove(1)
      if (!this.#isClosed) return this.#options.deliver({ path: path, type }, this.#backlog)
    })
  }

  #fail(error: unknown): void {
    if (this.#isClosed) return
    this.close()
    this.#armed.reject(error)
    if (this.#isArmed) this.#options.onFailure(isAppError(error) ? error : watcherFailure(error))
  }

  #stop(): void {
    this.#allowance.giveBack(this.#entries.size)
    this.#entries.clear()
    // Nothing waits for polls that are still in flight; their results are ignored.
    void this.#watcher?.close().catch(() => undefined)
  }
}
