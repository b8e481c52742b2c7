import pLimit, { type LimitFunction } from 'p-limit'
import type { AppError } from '@sandyard/kit/errors/app-error'

export interface FairQueueOptions {
  /** Jobs of one owner that run at once. */
  readonly perOwner: number
  /** Jobs of all owners that run at once. Default: no cap. */
  readonly inAll?: number
  /** Jobs of one owner that may wait. Default: no cap. */
  readonly waitingPerOwner?: number
  /** Jobs of all owners that may wait. Default: no cap. */
  readonly waitingInAll?: number
  /** The error of a job above a cap of its owner, or above the cap of all. */
  readonly onFull: (cap: 'owner' | 'all', count: number) => AppError
}

interface Owner {
  readonly limit: LimitFunction
  /** Running and waiting jobs. The limit itself counts a job for a moment after its end. */
  count: number
}

/**
 * A queue in which an owner (a team, or a client address) cannot take the turns and the places of the others: its jobs beyond `perOwner` wait
 * behind its own jobs only.
 */
export class FairQueue {
  readonly #options: Required<FairQueueOptions>
  readonly #all: LimitFunction
  readonly #owners = new Map<string, Owner>()
  #count = 0

  constructor({ perOwner, inAll = Infinity, waitingPerOwner = Infinity, waitingInAll = Infinity, onFull }: FairQueueOptions) {
    this.#options = { perOwner, inAll, waitingPerOwner, waitingInAll, onFull }
    this.#all = pLimit(inAll)
  }

  /** @throws the error of `onFull` when `run` would refuse a job of this owner now */
  assertRoom(owner: string): void {
    const { perOwner, inAll, waitingPerOwner, waitingInAll, onFull } = this.#options
    const count = this.#owners.get(owner)?.count ?? 0
    if (count >= perOwner + waitingPerOwner) throw onFull('owner', count)
    if (this.#count >= inAll + waitingInAll) throw onFull('all', this.#count)
  }

  /** @throws the error of `onFull` when too many jobs wait; the errors of `work` */
  async run<T>(ownerName: string, work: () => Promise<T>): Promise<T> {
    this.assertRoom(ownerName)
    const owner = this.#owners.get(ownerName) ?? { limit: pLimit(this.#options.perOwner), count: 0 }
    this.#owners.set(ownerName, owner)
    owner.count += 1
    this.#count += 1
    try {
      return await owner.limit(() => this.#all(work))
    } finally {
      this.#count -= 1
      owner.count -= 1
      if (owner.count === 0) this.#owners.delete(ownerName)
    }
  }
}
