import { readdir } from 'node:fs/promises'
import { EventType } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { type AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { childPath, decodeLatin1, pathArgument } from '../users/path-bytes.ts'
import { IN_ATTRIB, IN_CREATE, IN_IGNORED, IN_ISDIR, IN_MOVE_SELF, IN_MOVED_FROM, IN_MOVED_TO, type InotifyEvent } from '../sys/inotify.ts'
import { errnoCode } from '../sys/errno-text.ts'
import { DirectoryNode } from './directory-node.ts'
import { entryEventTypes, rootEventTypes } from './event-types.ts'
import type { InotifyHub, Subscriber } from './inotify-hub.ts'
import { SerialQueue } from './serial-queue.ts'
import type { BacklogShare } from './backlog.ts'
import type { Change } from './watch-event.ts'
import { queueOverflow, watcherFailure } from './watch-failure.ts'

export interface TreeOptions {
  readonly root: string
  readonly recursive: boolean
  /** Receives the changes in order, one at a time. */
  readonly deliver: (change: Change, backlog: BacklogShare) => Promise<void> | void
  /** The watch has ended and is closed. */
  readonly onFailure: (error: AppError) => void
}

type Announce = (path: string) => Promise<void> | void

/** A directory with one of these errors was removed, replaced or is not readable. It is not watched; the parent's events report its removal. */
const NOT_WATCHABLE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG'])

/**
 * The directory of one watcher, with all subdirectories if it is recursive. Events are handled strictly in the kernel's order, so at each
 * event the tree of nodes matches the file system at that moment.
 */
export class WatchedTree implements Subscriber {
  readonly #hub: InotifyHub
  readonly #options: TreeOptions
  readonly #nodes = new Map<number, DirectoryNode>()
  /** Directories between the two halves of a rename, by its cookie. */
  readonly #moving = new Map<number, DirectoryNode>()
  readonly #queue = new SerialQueue((error) => this.fail(isAppError(error) ? error : watcherFailure(error)))
  readonly #backlog: BacklogShare
  #isClosed = false

  constructor(hub: InotifyHub, options: TreeOptions) {
    this.#hub = hub
    this.#options = options
    this.#backlog = hub.backlog.open(() => this.fail(queueOverflow()))
  }

  /**
   * Every change after this resolves is delivered.
   *
   * @throws the system error of a directory that cannot be watched; the tree is closed
   */
  async arm(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // Events of directories that are already watched are queued behind this job.
    this.#queue.push(() => this.#armAll().then(resolve, reject))
    try {
      await promise
    } catch (error) {
      this.close()
      throw error
    }
  }

  take(event: InotifyEvent): void {
    this.#backlog.add()
    if (this.#isClosed) return
    this.#queue.push(() => {
      this.#backlog.remove(1)
      return this.#handle(event)
    })
  }

  fail(error: AppError): void {
    if (this.#isClosed) return
    this.close()
    this.#options.onFailure(error)
  }

  /** Resolves when every change up to now has been delivered. */
  async caughtUp(): Promise<void> {
    this.#hub.drain()
    await this.#queue.settled()
  }

  close(): void {
    this.#isClosed = true
    this.#backlog.close()
    for (const node of this.#nodes.values()) this.#forget(node)
  }

  async #armAll(): Promise<void> {
    const { root, recursive } = this.#options
    const node = new DirectoryNode(this.#hub.watch(pathArgument(root), this, { followLinks: !recursive }))
    this.#nodes.set(node.wd, node)
    if (recursive) await this.#scan(node, () => undefined)
  }

  async #handle(event: InotifyEvent): Promise<void> {
    const node = this.#nodes.get(event.wd)
    if (node === undefined) return
    if ((event.mask & IN_IGNORED) !== 0) this.#forget(node)
    else if (event.name !== '') await this.#handleEntry(node, event)
    else if (node.isRoot) await this.#handleRoot(event)
    else if ((event.mask & IN_ATTRIB) !== 0 && node.isPlaced) await this.#deliver(node.path, EventType.CHMOD)
    // If it had been moved within the tree, the second half of the rename would have arrived.
    else if ((event.mask & IN_MOVE_SELF) !== 0 && !node.isPlaced) this.#drop(node)
  }

  async #handleRoot({ mask }: InotifyEvent): Promise<void> {
    for (const type of rootEventTypes(mask)) await this.#deliver('.', type)
    if ((mask & IN_MOVE_SELF) !== 0) for (const node of this.#nodes.values()) this.#forget(node)
  }

  async #handleEntry(parent: DirectoryNode, { mask, name, cookie }: InotifyEvent): Promise<void> {
    for (const type of entryEventTypes(mask)) await this.#deliver(parent.pathOf(name), type)
    if (!this.#options.recursive || (mask & IN_ISDIR) === 0) return
    if ((mask & IN_MOVED_FROM) !== 0) this.#takeOut(parent.children.get(name), cookie)
    if ((mask & IN_CREATE) !== 0) await this.#putIn(parent, name, undefined)
    if ((mask & IN_MOVED_TO) !== 0) {
      const moved = this.#moving.get(cookie)
      this.#moving.delete(cookie)
      await this.#putIn(parent, name, moved)
    }
  }

  #takeOut(node: DirectoryNode | undefined, cookie: number): void {
    if (node === undefined) return
    node.remove()
    this.#moving.set(cookie, node)
  }

  /** A directory has appeared. Handles its current state: if it has been moved again, later events report that. */
  async #putIn(parent: DirectoryNode, name: string, moved: DirectoryNode | undefined): Promise<void> {
    const node = this.#watchEntry(parent, name)
    if (moved !== undefined && moved !== node) this.#placeMoved(moved, node === undefined ? { parent, name } : undefined)
    if (node !== undefined) await this.#scanRest(node, (path) => this.#deliver(path, EventType.CREATE))
  }

  /** Watches a directory before it is scanned: later entries are reported by events, and earlier ones are found by the scan. */
  #watchEntry(parent: DirectoryNode, name: string): DirectoryNode | undefined {
    const wd = this.#tryWatch(parent.pathOf(name))
    if (wd === undefined) {
      // If the parent was moved, the entry may still be in it.
      if (!this.#leadsTo(parent)) parent.isScanned = false
      return undefined
    }
    const known = this.#nodes.get(wd)
    if (known !== undefined) {
      if (!parent.isWithin(known)) known.place(parent, name)
      return known
    }
    const node = new DirectoryNode(wd, parent, name)
    this.#nodes.set(wd, node)
    return node
  }

  /** The place is empty or taken by another directory. */
  #placeMoved(moved: DirectoryNode, vacant: { readonly parent: DirectoryNode; readonly name: string } | undefined): void {
    if (vacant !== undefined && !vacant.parent.isWithin(moved)) {
      moved.place(vacant.parent, vacant.name)
      return
    }
    // Undone if two directories were exchanged: the second event then finds the first directory in its old place.
    if (this.#leadsTo(moved)) moved.putBack()
    else this.#drop(moved)
  }

  /** Whether the directory is still at the place that it had at the current event. */
  #leadsTo(node: DirectoryNode): boolean {
    const wd = this.#tryWatch(node.path)
    if (wd !== undefined && !this.#nodes.has(wd)) this.#hub.unwatch(wd, this)
    return wd === node.wd
  }

  #tryWatch(path: string): number | undefined {
    if (this.#isClosed) return undefined
    try {
      return this.#hub.watch(this.#argument(path), this, { followLinks: false })
    } catch (error) {
      if (NOT_WATCHABLE.has(errnoCode(error))) return undefined
      throw error
    }
  }

  /**
   * Scans directories that have not been scanned yet, new ones above all. A directory that was moved before its scan is scanned when the
   * event of the move is handled.
   */
  async #scanRest(node: DirectoryNode, announce: Announce): Promise<void> {
    for (const unseen of [...node.subtree()].filter(({ isScanned }) => !isScanned)) {
      if (!unseen.isScanned) await this.#scan(unseen, announce)
    }
  }

  /** Watches all directories below one, parents first, and reports every entry in the order of names. */
  async #scan(node: DirectoryNode, announce: Announce): Promise<void> {
    const entries = await this.#readEntries(node)
    // The path may have led to another directory while its names were read.
    if (entries === undefined || !this.#leadsTo(node)) return
    node.isScanned = true
    for (const entry of entries) {
      if (this.#isClosed) return
      const child = entry.isDirectory ? this.#watchEntry(node, entry.name) : undefined
      await announce(node.pathOf(entry.name))
      if (child !== undefined && !child.isScanned) await this.#scan(child, announce)
    }
    if (!this.#leadsTo(node)) node.isScanned = false
  }

  async #readEntries(node: DirectoryNode) {
    try {
      const entries = await readdir(this.#argument(node.path), { withFileTypes: true, encoding: 'latin1' })
      return entries
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map((entry) => ({ name: decodeLatin1(entry.name), isDirectory: entry.isDirectory() }))
    } catch (error) {
      if (NOT_WATCHABLE.has(errnoCode(error))) return undefined
      throw error
    }
  }

  #argument(path: string): string | Buffer {
    return pathArgument(path === '' ? this.#options.root : childPath(this.#options.root, path))
  }

  async #deliver(path: string, type: EventType): Promise<void> {
    if (!this.#isClosed) await this.#options.deliver({ path, type }, this.#backlog)
  }

  /** The directory has left the tree with its subtree. */
  #drop(node: DirectoryNode): void {
    for (const gone of node.subtree()) this.#forget(gone)
  }

  #forget(node: DirectoryNode): void {
    node.remove()
    this.#nodes.delete(node.wd)
    for (const [cookie, moving] of this.#moving) if (moving === node) this.#moving.delete(cookie)
    this.#hub.unwatch(node.wd, this)
  }
}
