import { WaitingLine, type Wait } from './waiting-line.ts'

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
  readonly onFull: (cap: 'owner' | 'all', count: number) => Error
}

interface Owner {
  readonly name: string
  readonly line: WaitingLine
  running: number
}

/**
 * A queue in which an owner (a team, or a client address) cannot take the turns and the places of the others: owners with waiting jobs take turns, and each
 * job waits behind the earlier ones of its own owner only.
 */
export class FairQueue {
  readonly #options: Required<FairQueueOptions>
  readonly #owners = new Map<string, Owner>()
  /** Owners whose next job may run, in the order of their turns. Empty unless as many jobs run as may. */
  readonly #ready = new Set<Owner>()
  /** Jobs of the process itself. */
  readonly #own = new WaitingLine()
  #running = 0
  #waiting = 0

  constructor({ perOwner, inAll = Infinity, waitingPerOwner = Infinity, waitingInAll = Infinity, onFull }: FairQueueOptions) {
    this.#options = { perOwner, inAll, waitingPerOwner, waitingInAll, onFull }
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting
  }

  /** @throws the error of `onFull` when `run` would refuse a job of this owner now */
  assertRoom(ownerName: string): void {
    const { perOwner, inAll, waitingPerOwner, waitingInAll, onFull } = this.#options
    const owner = this.#owners.get(ownerName)
    const count = owner === undefined ? 0 : owner.running + owner.line.size
    if (count >= perOwner + waitingPerOwner) throw onFull('owner', count)
    const all = this.#running + this.#waiting
    if (all >= inAll + waitingInAll) throw onFull('all', all)
  }

  /** Whether as many jobs of the owner run as may. */
  isAtCap(ownerName: string): boolean {
    return (this.#owners.get(ownerName)?.running ?? 0) >= this.#options.perOwner
  }

  /** @throws the error of `onFull` when too many jobs wait; the errors of `work` */
  async run<T>(ownerName: string, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(ownerName)
    try {
      return await work()
    } finally {
      leave()
    }
  }

  /**
   * Waits for the turn of a job, which ends when the returned function is called once.
   *
   * @param ownerName undefined for work of the process itself: it goes first, and counts for the cap of all only
   * @throws the error of `onFull` when too many jobs wait; the errors of the wait
   */
  async enter(ownerName: string | undefined, wait: Wait = {}): Promise<() => void> {
    if (ownerName === undefined) return await this.#enterOwn(wait)
    this.assertRoom(ownerName)
    const owner = this.#owners.get(ownerName) ?? { name: ownerName, line: new WaitingLine(), running: 0 }
    this.#owners.set(ownerName, owner)
    const mayRun = owner.running < this.#options.perOwner
    if (mayRun && this.#running < this.#options.inAll) this.#begin(owner)
    else {
      if (mayRun) this.#ready.add(owner)
      await this.#wait(owner.line, wait).catch((err: unknown) => {
        if (owner.line.size === 0) this.#ready.delete(owner)
        this.#forgetIdle(owner)
        throw err
      })
    }
    return () => {
      owner.running -= 1
      if (owner.line.size > 0) this.#ready.add(owner)
      this.#forgetIdle(owner)
      this.#end()
    }
  }

  async #enterOwn(wait: Wait): Promise<() => void> {
    const { inAll, waitingInAll, onFull } = this.#options
    if (this.#own.size >= waitingInAll) throw onFull('all', this.#running + this.#waiting)
    if (this.#running < inAll) this.#running += 1
    else await this.#wait(this.#own, wait)
    return () => this.#end()
  }

  async #wait(line: WaitingLine, wait: Wait): Promise<void> {
    this.#waiting += 1
    try {
      // Who lets it go on counts it as running.
      await line.wait(wait)
    } finally {
      this.#waiting -= 1
    }
  }

  #begin(owner: Owner): void {
    owner.running += 1
    this.#running += 1
  }

  #end(): void {
    this.#running -= 1
    while (this.#running < this.#options.inAll) {
      if (this.#own.next()) {
        this.#running += 1
        continue
      }
      const [owner] = this.#ready
      if (owner === undefined) return
      this.#ready.delete(owner)
      // The last one may have just ended its wait.
      if (!owner.line.next()) continue
      this.#begin(owner)
      if (owner.line.size > 0 && owner.running < this.#options.perOwner) this.#ready.add(owner)
    }
  }

  #forgetIdle(owner: Owner): void {
    if (owner.running === 0 && owner.line.size === 0 && this.#owners.get(owner.name) === owner) this.#owners.delete(owner.name)
  }
}
