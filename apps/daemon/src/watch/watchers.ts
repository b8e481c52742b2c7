import { loadOnce } from '@sandyard/kit/async/load-once'
import { AppError } from '@sandyard/kit/errors/app-error'
import { randomId } from '@sandyard/kit/ids/ids'
import { Backlog } from './backlog.ts'
import type { InotifyHub } from './inotify-hub.ts'
import type { PolledWatcher } from './polled-watcher.ts'
import { PollingAllowance } from './polling-allowance.ts'

/** The cap for polled watchers; programs use a few. */
const MAX_POLLED = 1024
/** Longer than a sandbox runs: only one that is paused and resumed repeatedly can lose a watcher that is not polled. */
const FORGOTTEN_AFTER_MS = 24 * 60 * 60 * 1000

interface Registered {
  readonly watcher: PolledWatcher
  readonly expiry: NodeJS.Timeout
}

/**
 * All watchers of the daemon: the shared inotify instance and the polled watchers, which belong to no connection and no user (envd.md 7.11).
 * A polled watcher exists until it is removed or has not been polled for a day.
 */
export class Watchers {
  /** The buffered events of all watchers, streams included. */
  readonly backlog = new Backlog()
  readonly allowance = new PollingAllowance()
  readonly #polled = new Map<string, Registered>()
  readonly #shutdown: AbortSignal
  readonly #loadHub = loadOnce(() => this.#createHub())
  #hub: InotifyHub | undefined
  #opening = 0

  constructor(shutdown: AbortSignal) {
    this.#shutdown = shutdown
    shutdown.addEventListener('abort', () => this.#close())
  }

  /**
   * The shared instance, opened by the first watcher.
   *
   * @throws AppError if the host's limit of instances is reached; the next watcher tries again. The reason of the shutdown
   */
  readonly openHub = async (): Promise<InotifyHub> => {
    const hub = await this.#loadHub()
    this.#shutdown.throwIfAborted()
    hub.open()
    return hub
  }

  /**
   * Registers a polled watcher.
   *
   * @returns its id
   * @throws AppError `resource_exhausted` if there are too many; the reason of the shutdown; errors of `open`
   */
  async add(open: () => Promise<PolledWatcher>): Promise<string> {
    if (this.#polled.size + this.#opening >= MAX_POLLED) {
      throw new AppError('resource_exhausted', `there are ${MAX_POLLED} watchers already: remove some with RemoveWatcher`)
    }
    this.#opening += 1
    try {
      const watcher = await open()
      if (this.#shutdown.aborted) watcher.close()
      this.#shutdown.throwIfAborted()
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
    const [{ InotifyHub }, { loadCLibrary }] = await Promise.all([import('./inotify-hub.ts'), import('../sys/c-library.ts')])
    await loadCLibrary()
    return (this.#hub = new InotifyHub(this.backlog))
  }

  #close(): void {
    for (const id of this.#polled.keys()) this.remove(id)
    this.#hub?.close()
  }
}
