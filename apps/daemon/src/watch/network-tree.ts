/** Loading this loads the polling library: import it late. */
import type { Stats } from 'node:fs'
import { lstat, realpath } from 'node:fs/promises'
import { EventType } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { type AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { type ChokidarOptions, type FSWatcher, watch } from 'chokidar'
import { toBytePath } from '../filesystem/byte-path.ts'
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
  /** Takes the changes in their order, one at a time. */
  readonly deliver: (change: Change, backlog: BacklogShare) => Promise<void> | void
  /** The watch is over, and has been given up. */
  readonly onFailure: (error: AppError) => void
}

/** What all watchers have in common. */
export interface SharedByPolling {
  readonly backlog: Backlog
  readonly allowance: PollingAllowance
}

/** How often each entry is looked at. */
const INTERVAL_MS = 1000
const POLLING: ChokidarOptions = {
  usePolling: true,
  interval: INTERVAL_MS,
  binaryInterval: INTERVAL_MS,
  // Each entry has to be known before it can change.
  ignoreInitial: false,
  alwaysStat: true,
  awaitWriteFinish: false,
  atomic: false,
  followSymlinks: false,
  ignorePermissionErrors: true,
  persistent: false,
}

/**
 * One watcher's directory where the kernel is not told of what others do: entries are looked at, again and again (envd.md 15). What is
 * there and gone between two looks is not seen, a rename is REMOVE and CREATE, and a change of attributes alone is no change.
 */
export class NetworkTree {
  readonly #options: NetworkTreeOptions
  /** By path relative to the root, which is not among them: what each entry was when it was last looked at. */
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
   * Every change after this settles is delivered, once it has been seen.
   *
   * @throws the system error of the root or of anything below; `ENOTDIR` also for a link where the watch is recursive
   * @throws AppError where there is too much to look at
   */
  static async open(options: NetworkTreeOptions, shared: SharedByPolling): Promise<NetworkTree> {
    const { root, recursive } = options
    if (recursive && (await lstat(root)).isSymbolicLink()) throw Object.assign(new Error('a link'), { code: 'ENOTDIR' })
    const cwd = await realpath(root)
    const tree = new NetworkTree(options, shared)
    tree.#start(cwd)
    await tree.#armed.promise
    return tree
  }

  /** Settles when every change that has been seen by now has been delivered: what has not been seen yet cannot be asked for. */
  caughtUp(): Promise<void> {
    return this.#queue.settled()
  }

  close(): void {
    this.#isClosed = true
    this.#backlog.close()
    this.#stop()
  }

  #start(cwd: string): void {
    const depth = this.#options.recursive ? {} : { depth: 0 }
    this.#watcher = watch('.', { ...POLLING, ...depth, cwd })
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
    this.#tell(path, EventType.CREATE)
  }

  #change(path: string, stats: Stats | undefined): void {
    const before = this.#entries.get(path)
    if (before === undefined || stats === undefined) return
    this.#entries.set(path, stats)
    const type = statsEventType(before, stats)
    if (type !== undefined) this.#tell(path, type)
  }

  #vanish(path: string): void {
    if (this.#entries.delete(path)) this.#allowance.giveBack(1)
    this.#tell(path === '' ? '.' : path, EventType.REMOVE)
    if (path !== '') return
    // Whatever comes in its place is another directory (envd.md 7.9).
    this.#stop()
    this.#armed.resolve()
  }

  /** What is there when the watch begins is known and not told. */
  #tell(path: string, type: EventType): void {
    if (!this.#isArmed || this.#isClosed) return
    this.#backlog.add()
    this.#queue.push(() => {
      this.#backlog.remove(1)
      if (!this.#isClosed) return this.#options.deliver({ path: toBytePath(path), type }, this.#backlog)
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
    // What it waits for are looks that come to nothing.
    void this.#watcher?.close().catch(() => undefined)
  }
}
