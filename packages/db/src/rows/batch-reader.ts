import { Semaphore } from '@sandyard/kit/async/semaphore'
import { within } from '@sandyard/kit/async/within'

export interface BatchReaderOptions<V> {
  /** Reads the values of some keys, of those that have one. */
  readonly read: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>
  /** The name of a query, as it reads before "took longer than". */
  readonly what: string
  readonly maxQueries: number
  /** The cap of keys that wait for a query. */
  readonly maxWaiting: number
  /** The error over that cap. */
  readonly refuse: () => Error
}

/** Keys in one query. */
const MAX_BATCH = 256
/** A query that takes longer counts as failed; the database ends it later. */
const QUERY_DEADLINE_MS = 10_000

interface Batch<V> {
  readonly keys: Set<string>
  readonly values: Promise<ReadonlyMap<string, V>>
}

/**
 * Reads values in batches: keys that are requested while all queries are busy share the next one, and concurrent requests for a key
 * share one read. So any number of lookups costs the database at most `maxQueries` concurrent queries.
 */
export class BatchReader<V> {
  readonly #options: BatchReaderOptions<V>
  readonly #limit: Semaphore
  /** Batches that have not begun; the last one accepts more keys. */
  readonly #waiting: Batch<V>[] = []

  constructor(options: BatchReaderOptions<V>) {
    this.#options = options
    this.#limit = new Semaphore(options.maxQueries)
  }

  /**
   * The value as of a query that begins after this call.
   *
   * @throws the error of `refuse` when too many keys wait; any error of the query
   */
  async read(key: string): Promise<V | undefined> {
    const known = this.#waiting.find(({ keys }) => keys.has(key))
    const batch = known ?? this.#open()
    batch.keys.add(key)
    return (await batch.values).get(key)
  }

  /** The current values of many keys, in as many queries as needed. */
  async readMany(keys: readonly string[]): Promise<ReadonlyMap<string, V>> {
    const found = new Map<string, V>()
    for (let at = 0; at < keys.length; at += MAX_BATCH) {
      const values = await this.#query(keys.slice(at, at + MAX_BATCH))
      for (const [key, value] of values) found.set(key, value)
    }
    return found
  }

  /** The batch that accepts one more key. */
  #open(): Batch<V> {
    const { maxWaiting, refuse } = this.#options
    const count = this.#waiting.reduce((sum, { keys }) => sum + keys.size, 0)
    if (count >= maxWaiting) throw refuse()
    const last = this.#waiting.at(-1)
    if (last !== undefined && last.keys.size < MAX_BATCH) return last
    const keys = new Set<string>()
    const values = this.#begin(keys)
    const batch = { keys, values }
    this.#waiting.push(batch)
    return batch
  }

  /** Queries for the keys that were added by the time when a query is free, but not before the caller has added the first one. */
  async #begin(keys: ReadonlySet<string>): Promise<ReadonlyMap<string, V>> {
    await Promise.resolve()
    return this.#limit.run(() => {
      this.#waiting.shift()
      return this.#query([...keys])
    })
  }

  #query(keys: readonly string[]): Promise<ReadonlyMap<string, V>> {
    const { what, read } = this.#options
    return within({ what, timeoutMs: QUERY_DEADLINE_MS }, () => read(keys))
  }
}
