import { BatchReader } from '@sandyard/db/rows/batch-reader'
import { FreshCache } from '@sandyard/db/rows/fresh-cache'
import type { EgressSandbox } from './sandbox.ts'

/** Reads the running sandboxes with some addresses. An address of two sandboxes has none. */
export type ReadSandboxes = (addresses: readonly string[]) => Promise<ReadonlyMap<string, EgressSandbox>>

const MAX_QUERIES = 2
const MAX_WAITING = 4096
const MAX_ENTRIES = 10_000
/** The longest life of a wrong entry after a lost notification. */
const MAX_AGE_MS = 3000
/** An address without a sandbox may get one at any moment, and its notification may be late. */
const MISS_MAX_AGE_MS = 50

/**
 * The running sandboxes by their address, read once and dropped when a change is announced. While changes are not announced each lookup
 * reads: an address may pass to another sandbox, which must not get the policy and the secrets of the one before.
 */
export class SandboxCatalog {
  readonly #reader: BatchReader<EgressSandbox>
  readonly #cache: FreshCache<EgressSandbox>
  /** The addresses that a sandbox was found at; as many as there are cached entries. */
  readonly #addresses = new Map<string, string>()
  #isFollowed = false

  constructor(read: ReadSandboxes) {
    this.#reader = new BatchReader({
      read,
      what: 'the query for sandboxes',
      maxQueries: MAX_QUERIES,
      maxWaiting: MAX_WAITING,
      refuse: () => new Error('too many lookups of sandboxes are waiting'),
    })
    this.#cache = new FreshCache({
      read: (address) => this.#reader.read(address),
      isKept: () => this.#isFollowed,
      maxAgeMs: MAX_AGE_MS,
      missAgeMs: MISS_MAX_AGE_MS,
      maxEntries: MAX_ENTRIES,
    })
  }

  /**
   * The sandbox at an address; undefined when none runs there.
   *
   * @throws any error of the database
   */
  async find(address: string): Promise<EgressSandbox | undefined> {
    const sandbox = await this.#cache.find(address)
    if (sandbox !== undefined && this.#isFollowed) this.#remember(sandbox)
    return sandbox
  }

  /** The current sandboxes at some addresses, past the cache. */
  readMany(addresses: readonly string[]): Promise<ReadonlyMap<string, EgressSandbox>> {
    return this.#reader.readMany(addresses)
  }

  forget(sandboxId: string): void {
    const address = this.#addresses.get(sandboxId)
    this.#addresses.delete(sandboxId)
    if (address !== undefined) this.#cache.forget(address)
    // It may have come to an address that had none, or is being read.
    this.#cache.forgetUnknown()
  }

  follow(isFollowed: boolean): void {
    this.#isFollowed = isFollowed
    this.forgetAll()
  }

  forgetAll(): void {
    this.#addresses.clear()
    this.#cache.forgetAll()
  }

  #remember({ sandboxId, address }: EgressSandbox): void {
    this.#addresses.delete(sandboxId)
    this.#addresses.set(sandboxId, address)
    if (this.#addresses.size <= MAX_ENTRIES) return
    const [oldest] = this.#addresses
    if (oldest === undefined) return
    this.#addresses.delete(oldest[0])
    this.#cache.forget(oldest[1])
  }
}
