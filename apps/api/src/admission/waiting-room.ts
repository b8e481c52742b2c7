import type { Shortage } from './host-room.ts'

/** Why a start is refused: the room is full, it has waited too long for its turn, or for what the host is short of. */
export type Refusal = 'room' | 'turn' | Shortage

export interface WaitingRoomOptions<T> {
  /** Starts that have a turn at once. */
  readonly width: number
  /** Starts that wait. */
  readonly places: number
  /** Starts of one owner that wait. */
  readonly placesPerOwner: number
  /** How long a start waits for its turn. */
  readonly turnWaitMs: number
  /** How long it waits while the host is short of something. */
  readonly shortageWaitMs: number
  /** What the host lacks for this start. */
  readonly shortageOf: (start: T) => Promise<Shortage | undefined>
  /** A start has to wait for what the host lacks. */
  readonly onShortage: (shortage: Shortage) => void
  readonly onRefused: (why: Refusal) => Error
}

interface Waiting<T> {
  readonly owner: string
  readonly start: T
  readonly since: number
  readonly entered: PromiseWithResolvers<void>
}

/** How often the host is measured while starts wait for it. */
const LOOK_EVERY_MS = 250

/**
 * Gives starts their turns, one owner after the other, so that nobody waits behind all starts of another. While the host is short of something
 * nobody gets a turn. Everybody waits a bounded time in a bounded number of places.
 */
export class WaitingRoom<T> {
  readonly #options: WaitingRoomOptions<T>
  /** In the order of their turns. */
  readonly #owners = new Map<string, Waiting<T>[]>()
  #waiting = 0
  #busy = 0
  #shortage: { readonly kind: Shortage; readonly since: number } | undefined
  #looking: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: WaitingRoomOptions<T>) {
    this.#options = options
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Starts that have a turn. */
  get busy(): number {
    return this.#busy
  }

  get shortage(): Shortage | undefined {
    return this.#shortage?.kind
  }

  /**
   * Waits for a turn.
   *
   * @returns the end of the turn, which may be called again
   * @throws the error of `onRefused`; the abort reason
   */
  async enter(owner: string, start: T, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    const queue = this.#owners.get(owner) ?? []
    const { places, placesPerOwner, onRefused } = this.#options
    if (this.#waiting >= places || queue.length >= placesPerOwner) throw onRefused('room')
    const waiting: Waiting<T> = { owner, start, since: performance.now(), entered: Promise.withResolvers() }
    queue.push(waiting)
    this.#owners.set(owner, queue)
    this.#waiting += 1
    const leave = (): void => this.#refuse(waiting, signal.reason as Error)
    signal.addEventListener('abort', leave, { once: true })
    this.#look()
    try {
      await waiting.entered.promise
    } finally {
      signal.removeEventListener('abort', leave)
    }
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#busy -= 1
      this.#look()
    }
  }

  /** One look at a time. A change during a look leads to another one. */
  #look(): void {
    if (this.#looking !== undefined) return
    this.#looking = this.#giveTurns().finally(() => {
      this.#looking = undefined
      this.#refuseLate()
      this.#plan()
    })
  }

  async #giveTurns(): Promise<void> {
    const { width, shortageOf, onShortage } = this.#options
    while (this.#busy < width) {
      const next = this.#first()
      if (next === undefined) break
      const kind = await shortageOf(next.start)
      if (kind !== undefined) {
        this.#shortage = { kind, since: this.#shortage?.since ?? performance.now() }
        return onShortage(kind)
      }
      this.#shortage = undefined
      // It may have been refused meanwhile.
      if (this.#remove(next)) {
        this.#busy += 1
        next.entered.resolve()
      }
    }
    if (this.#waiting === 0) this.#shortage = undefined
  }

  #first(): Waiting<T> | undefined {
    const [queue] = this.#owners.values()
    return queue?.[0]
  }

  /** The owner's next start comes after one of each other owner. False: it waits no more. */
  #remove(waiting: Waiting<T>): boolean {
    const queue = this.#owners.get(waiting.owner) ?? []
    const place = queue.indexOf(waiting)
    if (place < 0) return false
    queue.splice(place, 1)
    this.#waiting -= 1
    if (queue.length === 0 || place === 0) this.#owners.delete(waiting.owner)
    if (queue.length > 0 && place === 0) this.#owners.set(waiting.owner, queue)
    return true
  }

  #refuse(waiting: Waiting<T>, reason: Error): void {
    if (this.#remove(waiting)) waiting.entered.reject(reason)
  }

  #refuseLate(): void {
    const now = performance.now()
    for (const waiting of [...this.#owners.values()].flat()) {
      const late = this.#lateAt(waiting)
      if (late.at <= now) this.#refuse(waiting, this.#options.onRefused(late.why))
    }
  }

  #lateAt({ since }: Waiting<T>): { readonly at: number; readonly why: Refusal } {
    const { turnWaitMs, shortageWaitMs } = this.#options
    const turn = { at: since + turnWaitMs, why: 'turn' } as const
    if (this.#shortage === undefined) return turn
    const shortage = { at: Math.max(since, this.#shortage.since) + shortageWaitMs, why: this.#shortage.kind }
    return shortage.at < turn.at ? shortage : turn
  }

  /** The next look, when nothing else causes one. */
  #plan(): void {
    clearTimeout(this.#timer)
    if (this.#waiting === 0) return
    // A start that came during the look, or a turn that has ended, is served at once.
    if (this.#shortage === undefined && this.#busy < this.#options.width) return this.#look()
    this.#timer = setTimeout(() => this.#look(), LOOK_EVERY_MS).unref()
  }
}
