import { within } from '@sandyard/kit/async/within'
import { SingleFlight } from '@sandyard/kit/async/single-flight'
import type { RuntimeVitals } from '@sandyard/runtime/types'

/** What a host is short of. */
export type Shortage = 'memory' | 'disk'

export interface HostRoomOptions {
  readonly vitals: (signal: AbortSignal) => Promise<RuntimeVitals>
  /** All memory of the host. */
  readonly memoryBytes: number
  /** Memory of the host that sandboxes leave free; undefined: a share of it. */
  readonly memoryReserveBytes: number | undefined
  /** Free disk of the engine below which nothing starts. */
  readonly diskReserveBytes: number
  /** Milliseconds; default: of this process. */
  readonly now?: () => number
}

/** Memory that is reserved for a start until a reading contains what it uses. */
export interface Reservation {
  release(): void
}

interface Held {
  readonly bytes: number
  releasedAt: number | undefined
}

const MIB = 1024 ** 2
const RESERVED_SHARE = 0.04
const LEAST_RESERVE = 256 * MIB
const MOST_RESERVE = 2048 * MIB
/** A reading serves the starts of so many milliseconds: a burst costs the engine one. */
const FRESH_MS = 250
const READ_TIMEOUT_MS = 1000
/** A host that could not be measured counts for so long with what it had last: what keeps the guard busy must not open the host to all starts. */
const LAST_KNOWN_MS = 60_000
/** It is soon measured again, because nothing that ends meanwhile is seen. */
const RETRY_KNOWN_MS = 1000
/** An engine that does not say what it has is asked again after that. */
const RETRY_MS = 5000

/**
 * What the host of the engine has for more sandboxes, as it was measured last, without what starts have reserved since. Sandboxes count with
 * what they use, not with their limits, so a host may run more of them than the sum of their limits. Where the free memory is not known, as without a
 * guard on the host, or after a minute without a reading, all memory of the host counts as free, and only the starts in flight are bounded.
 */
export class HostRoom {
  readonly #options: HostRoomOptions
  readonly #now: () => number
  readonly #reads = new SingleFlight<'read', void>()
  readonly #held = new Set<Held>()
  #vitals: Pick<RuntimeVitals, 'disk' | 'memory'> | undefined
  /** When the reading of `#vitals` began. */
  #readAt = -Infinity
  #readAgainAt = -Infinity

  constructor(options: HostRoomOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** Memory that starts in flight have reserved. */
  get reservedBytes(): number {
    return [...this.#held].reduce((sum, { bytes }) => sum + bytes, 0)
  }

  reserve(bytes: number): Reservation {
    const held: Held = { bytes, releasedAt: undefined }
    this.#held.add(held)
    return {
      release: () => {
        held.releasedAt ??= this.#now()
      },
    }
  }

  /** What a start that needs so much memory would lack; undefined: nothing. */
  async shortageOf(bytes: number): Promise<Shortage | undefined> {
    if (this.#now() >= this.#readAgainAt) await this.#reads.run('read', () => this.#read())
    const { memoryBytes } = this.#options
    const { disk, memory = { totalBytes: memoryBytes, availableBytes: memoryBytes } } = this.#vitals ?? {}
    const free = memory.availableBytes - this.reservedBytes - this.#memoryReserve(memory.totalBytes)
    if (free < bytes) return 'memory'
    return disk !== undefined && disk.freeBytes < this.#options.diskReserveBytes ? 'disk' : undefined
  }

  #memoryReserve(totalBytes: number): number {
    return this.#options.memoryReserveBytes ?? Math.min(MOST_RESERVE, Math.max(LEAST_RESERVE, totalBytes * RESERVED_SHARE))
  }

  async #read(): Promise<void> {
    const began = this.#now()
    const read = { what: 'the read of the room on the host', timeoutMs: READ_TIMEOUT_MS }
    const found = await within(read, (signal) => this.#options.vitals(signal)).catch(() => undefined)
    const now = this.#now()
    if (found === undefined && this.#vitals !== undefined && now - this.#readAt < LAST_KNOWN_MS) {
      // What starts have reserved since stays reserved, also after their ends: the last reading does not contain it.
      this.#readAgainAt = now + RETRY_KNOWN_MS
      return
    }
    this.#vitals = found
    this.#readAt = began
    this.#readAgainAt = now + (found === undefined ? RETRY_MS : FRESH_MS)
    for (const held of this.#held) {
      if (held.releasedAt !== undefined && held.releasedAt <= began) this.#held.delete(held)
    }
  }
}
