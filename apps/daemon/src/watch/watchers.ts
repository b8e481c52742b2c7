import { AppError } from '@sandyard/kit/errors/app-error'
import { randomId } from '@sandyard/kit/ids/ids'
import type { InotifyHub } from './inotify-hub.ts'
import type { PolledWatcher } from './polled-watcher.ts'

/** Far more than a program has a use for. Each may hold as many events as `MAX_BEHIND`. */
const MAX_POLLED = 1024
/** Longer than sandboxes live: only one that is paused and resumed, over and over, loses a watcher that nobody asks. */
const FORGOTTEN_AFTER_MS = 24 * 60 * 60 * 1000

interface Registered {
  readonly watcher: PolledWatcher
  readonly expiry: NodeJS.Timeout
}

/**
 * All watchers of the daemon: the inotify instance that they share, and those that are polled, which belong to no connection and no user
 * (envd.md 7.11). A polled one lives until it is removed, or nobody has asked for its events for a day.
 */
export class Watchers {
  readonly #polled = new Map<string, Registered>()
  readonly #shutdown: AbortSignal
  #hub: Promise<InotifyHub> | undefined
  #opening = 0

  constructor(shutdown: AbortSignal) {
    this.#shutdown = shutdown
  }

  /**
   * The shared instance, opened by the first watcher.
   *
   * @throws AppError where the host's limit of instances is reached; the next watcher tries again
   */
  readonly openHub = async (): Promise<InotifyHub> => {
    this.#hub ??= this.#createHub()
    const hub = await this.#hub
    this.#shutdown.throwIfAborted()
    hub.open()
    return hub
  }

  /**
   * Keeps a polled watcher.
   *
   * @returns its id
   * @throws AppError `resource_exhausted` where there are too many, and what `open` throws
   */
  async add(open: () => Promise<PolledWatcher>): Promise<string> {
    if (this.#polled.size + this.#opening >= MAX_POLLED) {
      throw new AppError('resource_exhausted', `there are ${MAX_POLLED} watchers already: remove some with RemoveWatcher`)
    }
    this.#opening += 1
    try {
      const watcher = await open()
      const id = `w${randomId(20)}`
      this.#polled.set(id, { watcher, expiry: setTimeout(() => this.remove(id), FORGOTTEN_AFTER_MS).unref() })
      return id
    } finally {
      this.#opening -= 1
    }
  }

  /** @throws AppError `not_found` */
  get(id: string): PolledWatcher {
    const { watcher, expiry } = this.#find(id)
    expiry.refresh()
    return watcher
  }

  /** @throws AppError `not_found` */
  remove(id: string): void {
    const { watcher, expiry } = this.#find(id)
    this.#polled.delete(id)
    clearTimeout(expiry)
    watcher.close()
  }

  #find(id: string): Registered {
    const registered = this.#polled.get(id)
    if (registered === undefined) throw new AppError('not_found', `watcher with id ${id} not found`)
    return registered
  }

  async #createHub(): Promise<InotifyHub> {
    const { InotifyHub } = await import('./inotify-hub.ts')
    const hub = new InotifyHub()
    this.#shutdown.addEventListener('abort', () => this.#close(hub))
    return hub
  }

  #close(hub: InotifyHub): void {
    for (const id of this.#polled.keys()) this.remove(id)
    hub.close()
  }
}
