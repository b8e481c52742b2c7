import { LRUCache } from 'lru-cache'

export interface FreshCacheOptions<V> {
  readonly read: (key: string) => Promise<V | undefined>
  /** Whether a value is cached; the others are read each time. */
  readonly isKept: (value: V) => boolean
  /** How long a value is trusted without a notification. It bounds the effect of a lost one. */
  readonly maxAgeMs: number
  /** How long the absence of a value is trusted. */
  readonly missAgeMs: number
  /** The cap of cached values, and of cached keys without a value. */
  readonly maxEntries: number
  /** The cap of the sizes of cached values together; none when absent. A size is 1 at least. */
  readonly sizes?: { readonly sizeOf: (value: V) => number; readonly most: number }
}

interface Flight<V> {
  readonly value: Promise<V | undefined>
  /** A change came during the read, so its result may be older than the change. */
  isOutdated: boolean
}

/** A read is repeated when a change comes during it. More changes than this in one lookup mean that the row flaps. */
const MAX_READS = 4

/** Values that are read once and dropped when a change of them is announced. */
export class FreshCache<V extends object> {
  readonly #options: FreshCacheOptions<V>
  readonly #kept: LRUCache<string, V>
  readonly #unknown: LRUCache<string, true>
  readonly #flights = new Map<string, Flight<V>>()

  constructor(options: FreshCacheOptions<V>) {
    const { maxAgeMs, missAgeMs, maxEntries: max, sizes } = options
    this.#options = options
    // Reads the clock each time: it is cheaper than the timer of its own that the cache starts to remember the time.
    this.#kept = new LRUCache({
      max,
      ttl: maxAgeMs,
      ttlResolution: 0,
      ...(sizes && { maxSize: sizes.most, sizeCalculation: (value: V) => sizes.sizeOf(value) }),
    })
    this.#unknown = new LRUCache({ max, ttl: missAgeMs, ttlResolution: 0 })
  }

  /** The value, when it is cached. */
  peek(key: string): V | undefined {
    return this.#kept.get(key)
  }

  /**
   * Returns a value, or undefined when there is none. A value that is not kept is as of a read that began after this call.
   *
   * @throws any error of the read
   */
  async find(key: string): Promise<V | undefined> {
    const known = this.#kept.get(key)
    if (known !== undefined || this.#unknown.has(key)) return known
    const joined = this.#flights.get(key)
    if (joined !== undefined) {
      const value = await joined.value
      // A value that is not kept is not used: that read began before this call, so the value may have changed since.
      if (!joined.isOutdated && (value === undefined || this.#options.isKept(value))) return value
    }
    return await this.#read(key)
  }

  /**
   * The value by a read that begins after this call.
   *
   * @throws any error of the read
   */
  async findAgain(key: string): Promise<V | undefined> {
    this.#kept.delete(key)
    await this.#flights.get(key)?.value
    return await this.#read(key)
  }

  forget(key: string): void {
    this.#kept.delete(key)
    this.#unknown.delete(key)
    const flight = this.#flights.get(key)
    if (flight !== undefined) flight.isOutdated = true
    this.#flights.delete(key)
  }

  /** Forgets which keys have no value, and what is being read. */
  forgetUnknown(): void {
    this.#unknown.clear()
    for (const flight of this.#flights.values()) flight.isOutdated = true
    this.#flights.clear()
  }

  forgetAll(): void {
    this.#kept.clear()
    this.forgetUnknown()
  }

  async #read(key: string): Promise<V | undefined> {
    let value: V | undefined
    for (let reads = 0; reads < MAX_READS; reads++) {
      const flight = this.#flights.get(key) ?? this.#start(key)
      value = await flight.value
      if (!flight.isOutdated) break
    }
    return value
  }

  #start(wanted: string): Flight<V> {
    // A key may be a piece of a large text, such as the head of a request, which would be kept with it.
    const key = Buffer.from(wanted).toString()
    const { read, isKept } = this.#options
    const flight: Flight<V> = { isOutdated: false, value: read(key) }
    this.#flights.set(key, flight)
    const settle = (): void => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key)
    }
    flight.value.then((value) => {
      settle()
      if (flight.isOutdated) return
      if (value === undefined) this.#unknown.set(key, true)
      else if (isKept(value)) this.#kept.set(key, value)
    }, settle)
    return flight
  }
}
