import { BatchReader } from '@sandyard/db/rows/batch-reader'
import { FreshCache } from '@sandyard/db/rows/fresh-cache'
import type { Secret } from '@sandyard/kit/config/secret'
import { SourceCounts } from '../dns/source-counts.ts'

/** Reads the values of some secrets, by their keys; of those that have one. */
export type ReadSecretValues = (keys: readonly string[]) => Promise<ReadonlyMap<string, Secret>>

const MAX_QUERIES = 2
const MAX_WAITING = 4096
/** A team that asks for more at once does not fill the queue of all. */
const MAX_TEAM_WAITING = 256
const MAX_ENTRIES = 10_000
const MAX_TEAM_ENTRIES = 1000
const MIB = 1024 ** 2
/** Characters of the cached values. */
const MAX_CHARS = 64 * MIB
const MAX_TEAM_CHARS = 8 * MIB
/** The longest life of a wrong entry after a lost notification. */
const MAX_AGE_MS = 30_000
const MISS_MAX_AGE_MS = 1000

/** A team has too many lookups in flight. */
export class TooManyLookupsError extends Error {
  override readonly name = 'TooManyLookupsError'

  constructor() {
    super('too many lookups of secrets are waiting')
  }
}

/** What the cache may hold of one team. */
interface Share {
  /** Of the names that were asked for, the oldest first. */
  readonly sizes: Map<string, number>
  chars: number
}

interface Waiting {
  readonly place: Disposable
  callers: number
}

/**
 * The newest values of the secrets of teams, read once and dropped when a change is announced. While changes are not announced each use reads. Each
 * team has a share of the memory and of the queue.
 */
export class SecretValues {
  readonly #cache: FreshCache<Secret>
  readonly #places = new SourceCounts(MAX_WAITING)
  /** By key. */
  readonly #waiting = new Map<string, Waiting>()
  readonly #shares = new Map<string, Share>()
  #count = 0
  #isFollowed = false

  constructor(read: ReadSecretValues) {
    const reader = new BatchReader({
      read,
      what: 'the query for secrets',
      maxQueries: MAX_QUERIES,
      maxWaiting: MAX_WAITING,
      refuse: () => new TooManyLookupsError(),
    })
    this.#cache = new FreshCache({
      read: (key) => reader.read(key),
      isKept: () => this.#isFollowed,
      maxAgeMs: MAX_AGE_MS,
      missAgeMs: MISS_MAX_AGE_MS,
      maxEntries: MAX_ENTRIES,
      sizes: { sizeOf, most: MAX_CHARS },
    })
  }

  /**
   * The newest value of a secret of a team; undefined when there is none, or no key opens it.
   *
   * @throws TooManyLookupsError; any error of the database
   */
  async find(teamId: string, name: string): Promise<Secret | undefined> {
    const key = toKey(teamId, name)
    const known = this.#cache.peek(key)
    if (known !== undefined) return known
    using _ = this.#wait(teamId, key)
    this.#weigh(teamId, name, 0)
    const value = await this.#cache.find(key)
    if (value !== undefined) this.#weigh(teamId, name, sizeOf(value))
    return value
  }

  /** A secret of the team has changed. */
  changed(teamId: string): void {
    const names = this.#shares.get(teamId)?.sizes.keys() ?? []
    for (const name of names) this.#cache.forget(toKey(teamId, name))
  }

  /** A change of a sandbox changes no secret. */
  forget(): void {}

  follow(isFollowed: boolean): void {
    this.#isFollowed = isFollowed
    this.forgetAll()
  }

  forgetAll(): void {
    this.#cache.forgetAll()
    this.#shares.clear()
    this.#count = 0
  }

  /** A place in the queue, which concurrent lookups of one secret share. @throws TooManyLookupsError */
  #wait(teamId: string, key: string): Disposable {
    const joined = this.#waiting.get(key)
    const place = joined?.place ?? this.#places.take(teamId, MAX_TEAM_WAITING)
    if (place === undefined) throw new TooManyLookupsError()
    const waiting = joined ?? { place, callers: 0 }
    waiting.callers += 1
    this.#waiting.set(key, waiting)
    return {
      [Symbol.dispose]: () => {
        waiting.callers -= 1
        if (waiting.callers > 0) return
        this.#waiting.delete(key)
        place[Symbol.dispose]()
      },
    }
  }

  /** Counts a name with the size of its value, and forgets the oldest ones of a team above its share. */
  #weigh(teamId: string, name: string, size: number): void {
    const share = this.#shares.get(teamId) ?? { sizes: new Map<string, number>(), chars: 0 }
    this.#shares.set(teamId, share)
    const before = share.sizes.get(name)
    if (before === undefined) this.#count += 1
    share.chars += size - (before ?? 0)
    share.sizes.set(name, size)
    while (share.sizes.size > MAX_TEAM_ENTRIES || share.chars > MAX_TEAM_CHARS) this.#forgetOldest(teamId, share)
    while (this.#count > MAX_ENTRIES) this.#forgetOldest(...this.#largest())
  }

  #forgetOldest(teamId: string, share: Share): void {
    const [oldest] = share.sizes
    if (oldest === undefined) return
    const [name, size] = oldest
    share.sizes.delete(name)
    share.chars -= size
    this.#count -= 1
    if (share.sizes.size === 0) this.#shares.delete(teamId)
    this.#cache.forget(toKey(teamId, name))
  }

  #largest(): [string, Share] {
    const [first, ...others] = this.#shares
    if (first === undefined) throw new Error('no team has names')
    return others.reduce((most, one) => (one[1].sizes.size > most[1].sizes.size ? one : most), first)
  }
}

function sizeOf(value: Secret): number {
  return Math.max(1, value.reveal().length)
}

/** The key of a secret in the cache. An id of a team has no space. */
export function toKey(teamId: string, name: string): string {
  return `${teamId} ${name}`
}

export function readKey(key: string): { readonly teamId: string; readonly name: string } {
  const at = key.indexOf(' ')
  return { teamId: key.slice(0, at), name: key.slice(at + 1) }
}
