import type { AppError } from '@sandyard/kit/errors/app-error'
import { toBytePath } from '../filesystem/byte-path.ts'
import type { AccountDatabase } from '../users/account-database.ts'
import { cleanPath } from '../users/path-parts.ts'
import type { AcceptedDirectory, WatchRequest } from './acceptance.ts'
import { describeChange } from './describe-change.ts'
import type { InotifyHub } from './inotify-hub.ts'
import { openWatch, type Watch } from './open-watch.ts'
import type { Change, FilesystemEvent } from './watch-event.ts'
import { MAX_BEHIND, queueOverflow } from './watch-failure.ts'

export interface PolledWatcherDeps {
  readonly accounts: AccountDatabase
  readonly openHub: () => Promise<InotifyHub>
}

/** A watcher whose events wait until they are asked for, up to a bound; past that all that it has to say is the overflow. */
export class PolledWatcher {
  readonly #directory: AcceptedDirectory
  readonly #request: WatchRequest
  readonly #accounts: AccountDatabase
  #watch: Watch | undefined
  #events: FilesystemEvent[] = []
  #failure: AppError | undefined

  private constructor(directory: AcceptedDirectory, request: WatchRequest, accounts: AccountDatabase) {
    this.#directory = directory
    this.#request = request
    this.#accounts = accounts
  }

  /** @throws AppError where nothing can be watched */
  static async open(directory: AcceptedDirectory, request: WatchRequest, deps: PolledWatcherDeps): Promise<PolledWatcher> {
    const watcher = new PolledWatcher(directory, request, deps.accounts)
    watcher.#watch = await openWatch(
      {
        directory,
        recursive: request.recursive,
        deliver: (change) => watcher.#keep(change),
        onFailure: (error) => watcher.#fail(error),
      },
      deps.openHub,
    )
    return watcher
  }

  /**
   * Every event up to now that has not been taken yet.
   *
   * @throws AppError that ended the watch, each time
   */
  async take(): Promise<FilesystemEvent[]> {
    await this.#watch?.caughtUp()
    if (this.#failure !== undefined) throw this.#failure
    const events = this.#events
    this.#events = []
    return events
  }

  close(): void {
    this.#watch?.close()
    this.#events = []
  }

  async #keep(change: Change): Promise<void> {
    if (this.#events.length >= MAX_BEHIND) throw queueOverflow()
    const description = {
      root: toBytePath(cleanPath(this.#directory.path)),
      includeEntry: this.#request.includeEntry,
      accounts: this.#accounts,
    }
    this.#events.push(await describeChange(change, description))
  }

  #fail(error: AppError): void {
    this.#failure = error
    this.#events = []
  }
}
