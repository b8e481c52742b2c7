import { MAX_BEHIND } from './watch-failure.ts'

/**
 * How many events all watchers together may hold: a watcher that is forgotten, as polled ones are, must not take the sandbox's memory.
 * Some tens of megabytes.
 */
const MAX_BEHIND_TOGETHER = 2 * MAX_BEHIND

/** What one watcher holds: events that wait to be handled, and those that wait for its client. */
export class BacklogShare {
  readonly #backlog: Backlog
  readonly overflow: () => void
  count = 0

  /** @param overflow the watcher loses what it has, and is over */
  constructor(backlog: Backlog, overflow: () => void) {
    this.#backlog = backlog
    this.overflow = overflow
  }

  /** Takes one event more. Where that is too much, `overflow` has been called on return: perhaps on another watcher. */
  add(): void {
    this.#backlog.add(this)
  }

  /** Events have been handled, taken or dropped. */
  remove(count: number): void {
    this.#backlog.remove(this, count)
  }

  /** Gives up all that is left of it; nothing is counted any more. */
  close(): void {
    this.#backlog.close(this)
  }
}

/** All that is held for all watchers. When it is too much, the one that is furthest behind pays. */
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
