import { AppError } from '@sandyard/kit/errors/app-error'
import {
  IN_ATTRIB,
  IN_CREATE,
  IN_DELETE,
  IN_DELETE_SELF,
  IN_DONT_FOLLOW,
  IN_IGNORED,
  IN_MASK_ADD,
  IN_MODIFY,
  IN_MOVE_SELF,
  IN_MOVED_FROM,
  IN_MOVED_TO,
  IN_ONLYDIR,
  IN_Q_OVERFLOW,
  Inotify,
  type InotifyEvent,
} from '../sys/inotify.ts'
import { errnoText } from '../sys/errno-text.ts'
import type { Backlog } from './backlog.ts'
import { queueOverflow } from './watch-failure.ts'

/**
 * The same for all watches, and added to existing ones (IN_MASK_ADD): otherwise the kernel clears the mask of an inode for a moment when it
 * is watched again, and loses events.
 */
const EVENTS = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_MODIFY | IN_ATTRIB | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_MASK_ADD

/** A consumer of the events of directories. */
export interface Subscriber {
  /** Called in the kernel's order, once for each event of a directory that this subscriber watches. */
  take(event: InotifyEvent): void
  /** Events may have been lost. */
  fail(error: AppError): void
}

/**
 * The daemon's only inotify instance, shared by all watchers: a host allows about a hundred instances for each user, and all containers are
 * the same user (envd.md 15). The first watcher opens it. It stays open, because closing it blocks the thread for milliseconds.
 */
export class InotifyHub {
  readonly backlog: Backlog
  readonly #subscribers = new Map<number, Set<Subscriber>>()
  #inotify: Inotify | undefined

  /** @param backlog of all watchers */
  constructor(backlog: Backlog) {
    this.backlog = backlog
  }

  /** @throws AppError if the instance cannot be created */
  open(): void {
    try {
      this.#inotify ??= new Inotify((events) => this.#dispatch(events))
    } catch (error) {
      throw new AppError('internal', `error creating watcher: ${errnoText(error)}`, { cause: error })
    }
  }

  /**
   * Watches a directory for a subscriber, from now on. Repeated calls for one directory are one watch.
   *
   * @returns the number that its events carry; the same for all paths and subscribers of one directory
   * @throws the system error: `ENOTDIR` also for a link if links are not followed
   */
  watch(path: string | Buffer, subscriber: Subscriber, { followLinks }: { readonly followLinks: boolean }): number {
    const inotify = this.#opened()
    inotify.drain()
    const wd = inotify.add(path, EVENTS | IN_ONLYDIR | (followLinks ? 0 : IN_DONT_FOLLOW))
    const subscribers = this.#subscribers.get(wd) ?? new Set()
    this.#subscribers.set(wd, subscribers.add(subscriber))
    return wd
  }

  /** Ends a subscriber's watch of a directory. The last one removes the kernel's watch. */
  unwatch(wd: number, subscriber: Subscriber): void {
    const subscribers = this.#subscribers.get(wd)
    if (subscribers?.delete(subscriber) !== true || subscribers.size > 0) return
    this.#subscribers.delete(wd)
    this.#inotify?.remove(wd)
  }

  /** Reads every event that has happened up to now before it returns. */
  drain(): void {
    this.#inotify?.drain()
  }

  close(): void {
    this.#inotify?.close()
    this.#inotify = undefined
    this.#subscribers.clear()
  }

  #opened(): Inotify {
    if (this.#inotify === undefined) throw new AppError('internal', 'the sandbox is shutting down')
    return this.#inotify
  }

  #dispatch(events: readonly InotifyEvent[]): void {
    for (const event of events) {
      if ((event.mask & IN_Q_OVERFLOW) !== 0) this.#overflow()
      const subscribers = this.#subscribers.get(event.wd)
      if (subscribers === undefined) continue
      // The kernel has removed the watch itself.
      if ((event.mask & IN_IGNORED) !== 0) this.#subscribers.delete(event.wd)
      for (const subscriber of subscribers) subscriber.take(event)
    }
  }

  #overflow(): void {
    const all = new Set(this.#subscribers.values().flatMap((subscribers) => subscribers.values()))
    for (const subscriber of all) subscriber.fail(queueOverflow())
  }
}
