import { BatchReader } from '@sandyard/db/rows/batch-reader'
import { FreshCache } from '@sandyard/db/rows/fresh-cache'
import type { Secret } from '@sandyard/kit/config/secret'

/** Reads the values of some secrets, by their keys; of those that have one. */
export type ReadSecretValues = (keys: readonly string[]) => Promise<ReadonlyMap<string, Secret>>

const MAX_QUERIES = 2
const MAX_WAITING = 4096
const MAX_ENTRIES = 10_000
/** The longest life of a wrong entry after a lost notification. */
const MAX_AGE_MS = 30_000
const MISS_MAX_AGE_MS = 1000

/** The newest values of the secrets of teams, read once and dropped when a change is announced. While changes are not announced each use reads. */
export class SecretValues {
  readonly #cache: FreshCache<Secret>
  /** The names that were asked for, by team; as many as there are cached entries. */
  readonly #names = new Map<string, Set<string>>()
  #count = 0
  #isFollowed = false

  constructor(read: ReadSecretValues) {
    const reader = new BatchReader({
      read,
      what: 'the query for secrets',
      maxQueries: MAX_QUERIES,
      maxWaiting: MAX_WAITING,
      refuse: () => new Error('too many lookups of secrets are waiting'),
    })
    this.#cache = new FreshCache({
      read: (key) => reader.read(key),
      isKept: () => this.#isFollowed,
      maxAgeMs: MAX_AGE_MS,
      missAgeMs: MISS_MAX_AGE_MS,
      maxEntries: MAX_ENTRIES,
    })
  }

  /**
   * The newest value of a secret of a team; undefined when there is none, or no key opens it.
   *
   * @throws any error of the database
   */
  find(teamId: string, name: string): Promise<Secret | undefined> {
    this.#remember(teamId, name)
    return this.#cache.find(toKey(teamId, name))
  }

  /** A secret of the team has changed. */
  changed(teamId: string): void {
    const names = this.#names.get(teamId) ?? []
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
    this.#names.clear()
    this.#count = 0
  }

  #remember(teamId: string, name: string): void {
    const names = this.#names.get(teamId) ?? new Set()
    if (names.has(name)) return
    if (this.#count >= MAX_ENTRIES) {
      this.forgetAll()
      return this.#remember(teamId, name)
    }
    this.#names.set(teamId, names.add(name))
    this.#count += 1
  }
}

/** The key of a secret in the cache. An id of a team has no space. */
export function toKey(teamId: string, name: string): string {
  return `${teamId} ${name}`
}

export function readKey(key: string): { readonly teamId: string; readonly name: string } {
  const at = key.indexOf(' ')
  return { teamId: key.slice(0, at), name: key.slice(at + 1) }
}
