import type { AppError } from '@sandyard/kit/errors/app-error'
import type { AccountDatabase } from '../users/account-database.ts'
import { cleanPath } from '../users/path-parts.ts'
import type { AcceptedDirectory, WatchRequest } from './acceptance.ts'
import type { BacklogShare } from './backlog.ts'
import { describeChange } from './describe-change.ts'
import { openWatch, type SharedByWatches, type Watch } from './open-watch.ts'
import type { Change, FilesystemEvent } from './watch-event.ts'

export interface PolledWatcherDeps {
  readonly accounts: AccountDatabase
  readonly watchers: SharedByWatches
}

/** A watcher that buffers its events until they are polled, up to a cap. Above the cap it drops them and answers with the overflow error. */
export class PolledWatcher {
  readonly #directory: AcceptedDirectory
  readonly #request: WatchRequest
  readonly #accounts: AccountDatabase
  #watch: Watch | undefined
  #events: FilesystemEvent[] = []
  #backlog: BacklogShare | undefined
  #failure: AppError | undefined

  private constructor(directory: AcceptedDirectory, request: WatchRequest, accounts: AccountDatabase) {
    this.#directory = directory
    this.#request = request
    this.#accounts = accounts
  }

  /** @throws AppError if the directory cannot be watched */
  static async open(directory: AcceptedDirectory, request: WatchRequest, deps: PolledWatcherDeps): Promise<PolledWatcher> {
    const watcher = new PolledWatcher(directory, request, deps.accounts)
    watcher.#watch = await openWatch(
      {
        directory,
        recursive: request.recursive,
        deliver: (change, backlog) => watcher.#keep(change, backlog),
        onFailure: (error) => watcher.#fail(error),
      },
      deps.watchers,
    )
    return watcher
  }

  /**
   * Every event up to now that has not been taken; on a network file system every one that a poll has detected.
   *
   * @throws AppError that ended the watch, at each call
   */
  async take(): Promise<FilesystemEvent[]> {
    await this.#watch?.caughtUp()
    if (this.#failure !== undefined) throw this.#failure
    const events = this.#events
    this.#events = []
    this.#backlog?.remove(events.length)
    return events
  }

  close(): void {
    this.#watch?.close()
    this.#events = []
  }

  async #keep(change: Change, backlog: BacklogShare): Promise<void> {
    this.#backlog = backlog
    backlog.add()
    if (this.#failure !== undefined) return
    const description = {
      root: cleanPath(this.#directory.path),
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
