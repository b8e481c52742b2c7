import { MAX_BEHIND } from './watch-failure.ts'

/**
 * The cap for buffered events of all watchers together, some tens of megabytes: abandoned polled watchers must not fill the memory of the
 * sandbox.
 */
const MAX_BEHIND_TOGETHER = 2 * MAX_BEHIND

/** The buffered events of one watcher: those to be handled and those to be sent. */
export class BacklogShare {
  readonly #backlog: Backlog
  readonly overflow: () => void
  count = 0

  /** @param overflow ends the watcher and drops its events */
  constructor(backlog: Backlog, overflow: () => void) {
    this.#backlog = backlog
    this.overflow = overflow
  }

  /** Counts one more event. Above the cap it calls an `overflow` before it returns, possibly that of another watcher. */
  add(): void {
    this.#backlog.add(this)
  }

  /** Call it when events have been handled, taken or dropped. */
  remove(count: number): void {
    this.#backlog.remove(this, count)
  }

  /** Releases all that is left; later calls count nothing. */
  close(): void {
    this.#backlog.close(this)
  }
}

/** The buffered events of all watchers. Above the cap the watcher with the most events is ended. */
export class Backlog {
  readonly #shares = new Set<BacklogShare>()
  #total = 0

  open(overflow: () => void): BacklogShare {
    const share = new BacklogShare(this, overflow)
    this.#shares.add(share)
    return share
  }

  add(share: BacklogShare): void {
    if (!this.#shares.has(share)) return
    share.count += 1
    this.#total += 1
    if (share.count > MAX_BEHIND) this.#overflow(share)
    else if (this.#total > MAX_BEHIND_TOGETHER) this.#overflow(this.#furthestBehind(share))
  }

  remove(share: BacklogShare, count: number): void {
    if (!this.#shares.has(share)) return
    share.count -= count
    this.#total -= count
  }

  close(share: BacklogShare): void {
    if (!this.#shares.delete(share)) return
    this.#total -= share.count
    share.count = 0
  }

  #overflow(share: BacklogShare): void {
    this.close(share)
    share.overflow()
  }

  #furthestBehind(share: BacklogShare): BacklogShare {
    let furthest = share
    for (const other of this.#shares) if (other.count > furthest.count) furthest = other
    return furthest
  }
}
