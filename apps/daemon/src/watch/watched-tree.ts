import { readdir } from 'node:fs/promises'
import { EventType } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { type AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { type BytePath, childPath, toArgument } from '../filesystem/byte-path.ts'
import { IN_ATTRIB, IN_CREATE, IN_IGNORED, IN_ISDIR, IN_MOVE_SELF, IN_MOVED_FROM, IN_MOVED_TO, type InotifyEvent } from '../sys/inotify.ts'
import { errnoCode } from '../sys/errno-text.ts'
import { DirectoryNode } from './directory-node.ts'
import { entryEventTypes, rootEventTypes } from './event-types.ts'
import type { InotifyHub, Subscriber } from './inotify-hub.ts'
import { SerialQueue } from './serial-queue.ts'
import type { Change } from './watch-event.ts'
import { MAX_BEHIND, queueOverflow, watcherFailure } from './watch-failure.ts'

export interface TreeOptions {
  readonly root: BytePath
  readonly recursive: boolean
  /** Takes the changes in their order, one at a time. */
  readonly deliver: (change: Change) => Promise<void> | void
  /** The watch is over, and has been given up. */
  readonly onFailure: (error: AppError) => void
}

type Announce = (path: string) => Promise<void> | void

/** A directory that went, was replaced or may not be looked at is none to be watched, and says so by its parent's events. */
const NOT_WATCHABLE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG'])

/**
 * One watcher's directory, and where it is recursive every directory below. Events are handled strictly in the kernel's order, so the tree
 * of nodes is at each of them what the file system was when it happened.
 */
export class WatchedTree implements Subscriber {
  readonly #hub: InotifyHub
  readonly #options: TreeOptions
  readonly #nodes = new Map<number, DirectoryNode>()
  /** Directories between the two halves of a rename, by its cookie. */
  readonly #moving = new Map<number, DirectoryNode>()
  readonly #queue = new SerialQueue((error) => this.fail(isAppError(error) ? error : watcherFailure(error)))
  #isClosed = false

  constructor(hub: InotifyHub, options: TreeOptions) {
    this.#hub = hub
    this.#options = options
  }

  /**
   * Every change after this settles is delivered.
   *
   * @throws the system error of a directory that cannot be watched; the tree is closed then
   */
  async arm(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // Events of what is watched already wait behind this in the queue.
    this.#queue.push(() => this.#armAll().then(resolve, reject))
    try {
      await promise
    } catch (error) {
      this.close()
      throw error
    }
  }

  take(event: InotifyEvent): void {
    if (this.#queue.length >= MAX_BEHIND) this.fail(queueOverflow())
    else this.#queue.push(() => this.#handle(event))
  }

  fail(error: AppError): void {
    if (this.#isClosed) return
    this.close()
    this.#options.onFailure(error)
  }

  /** Settles when every change that has happened by now has been delivered. */
  async caughtUp(): Promise<void> {
    this.#hub.drain()
    await this.#queue.settled()
  }

  close(): void {
    this.#isClosed = true
    for (const node of this.#nodes.values()) this.#forget(node)
  }

  async #armAll(): Promise<void> {
    const { root, recursive } = this.#options
    const node = new DirectoryNode(this.#hub.watch(toArgument(root), this, { followLinks: !recursive }))
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
    // A place that it has been moved to would be known by now.
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

  /** A directory has appeared. What is there now decides, since it may have gone on already: later events tell of that. */
  async #putIn(parent: DirectoryNode, name: string, moved: DirectoryNode | undefined): Promise<void> {
    const node = this.#watchEntry(parent, name)
    if (moved !== undefined && moved !== node) this.#placeMoved(moved, node === undefined ? { parent, name } : undefined)
    if (node !== undefined) await this.#scanRest(node, (path) => this.#deliver(path, EventType.CREATE))
  }

  /** Watches a directory before anybody looks into it: what is put into it later is told by events, and all else is there to be seen. */
  #watchEntry(parent: DirectoryNode, name: string): DirectoryNode | undefined {
    const wd = this.#tryWatch(parent.pathOf(name))
    if (wd === undefined) {
      // Where the parent has moved on, the entry may still be in it.
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

  /** Another directory has taken the place, or none is there. */
  #placeMoved(moved: DirectoryNode, vacant: { readonly parent: DirectoryNode; readonly name: string } | undefined): void {
    if (vacant !== undefined && !vacant.parent.isWithin(moved)) {
      moved.place(vacant.parent, vacant.name)
      return
    }
    // Two directories that change places come back: the second half of it finds the first one where it was.
    if (this.#leadsTo(moved)) moved.putBack()
    else this.#drop(moved)
  }

  /** Whether the directory is still where it was when the event happened that is being handled. */
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
   * Scans what has not been looked at yet, the whole of a new directory above all. A directory that was gone from its place by the time of
   * its scan comes back here when the event of that is handled.
   */
  async #scanRest(node: DirectoryNode, announce: Announce): Promise<void> {
    for (const unseen of [...node.subtree()].filter(({ isScanned }) => !isScanned)) {
      if (!unseen.isScanned) await this.#scan(unseen, announce)
    }
  }

  /** Watches all directories below one, parents first, and announces every entry in the order of names. */
  async #scan(node: DirectoryNode, announce: Announce): Promise<void> {
    const entries = await this.#readEntries(node)
    // The names may have been another directory's.
    if (entries === undefined || !this.#leadsTo(node)) return
    node.isScanned = true
    for (const entry of entries) {
      if (this.#isClosed) return
      const child = entry.isDirectory() ? this.#watchEntry(node, entry.name) : undefined
      await announce(node.pathOf(entry.name))
      if (child !== undefined && !child.isScanned) await this.#scan(child, announce)
    }
    if (!this.#leadsTo(node)) node.isScanned = false
  }

  async #readEntries(node: DirectoryNode) {
    try {
      const entries = await readdir(this.#argument(node.path), { withFileTypes: true, encoding: 'latin1' })
      return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
    } catch (error) {
      if (NOT_WATCHABLE.has(errnoCode(error))) return undefined
      throw error
    }
  }

  #argument(path: string): string | Buffer {
    return toArgument(path === '' ? this.#options.root : childPath(this.#options.root, path))
  }

  async #deliver(path: string, type: EventType): Promise<void> {
    if (!this.#isClosed) await this.#options.deliver({ path, type })
  }

  /** The directory has left the tree with all that is below it. */
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
