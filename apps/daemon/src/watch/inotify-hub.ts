import { AppError } from '@sandyard/kit/errors/app-error'
import {
  IN_ATTRIB,
  IN_CREATE,
  IN_DELETE,
  IN_DELETE_SELF,
  IN_DONT_FOLLOW,
  IN_IGNORED,
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
import { queueOverflow } from './watch-failure.ts'

/** Equal for all watches: one that is added again for an inode replaces the mask of the first. */
const EVENTS = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_MODIFY | IN_ATTRIB | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF

/** Whoever wants the events of directories. */
export interface Subscriber {
  /** Called in the kernel's order, once for each event of a directory that is watched for it. */
  take(event: InotifyEvent): void
  /** Events may be missing from here on. */
  fail(error: AppError): void
}

/**
 * The daemon's one inotify instance, shared by all watchers: a host allows a user, which all its containers are one of, about a hundred
 * of them (envd.md 15). It is opened by the first watcher and stays open, because to close it stalls the thread for milliseconds.
 */
export class InotifyHub {
  readonly #subscribers = new Map<number, Set<Subscriber>>()
  #inotify: Inotify | undefined

  /** @throws AppError where the instance cannot be had */
  open(): void {
    try {
      this.#inotify ??= new Inotify((events) => this.#dispatch(events))
    } catch (error) {
      throw new AppError('internal', `error creating watcher: ${errnoText(error)}`, { cause: error })
    }
  }

  /**
   * Watches a directory for a subscriber, from now on: what happened to it before is never told. Once for each directory, however often
   * it is called.
   *
   * @returns the number that its events carry; the same for all paths and subscribers of one directory
   * @throws the system error: `ENOTDIR` also for a link where links are not followed
   */
  watch(path: string | Buffer, subscriber: Subscriber, { followLinks }: { readonly followLinks: boolean }): number {
    const inotify = this.#opened()
    inotify.drain()
    const wd = inotify.add(path, EVENTS | IN_ONLYDIR | (followLinks ? 0 : IN_DONT_FOLLOW))
    const subscribers = this.#subscribers.get(wd) ?? new Set()
    this.#subscribers.set(wd, subscribers.add(subscriber))
    return wd
  }

  /** Ends a subscriber's watch of a directory, and the kernel's with the last one. */
  unwatch(wd: number, subscriber: Subscriber): void {
    const subscribers = this.#subscribers.get(wd)
    if (subscribers?.delete(subscriber) !== true || subscribers.size > 0) return
    this.#subscribers.delete(wd)
    this.#inotify?.remove(wd)
  }

  /** Every event that has happened by now has been taken when this returns. */
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
