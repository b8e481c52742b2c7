import pLimit from 'p-limit'
import { within } from '@sandyard/kit/async/within'
import { ProxyError } from '../answers/proxy-error.ts'
import type { Route, RouteSource } from './route.ts'

export interface ReaderOptions {
  readonly maxQueries: number
  /** The cap of ids that wait for a query. */
  readonly maxWaiting: number
}

/** Ids in one query. */
const MAX_BATCH = 256
/** A query that takes longer counts as failed; the database ends it later. */
const QUERY_DEADLINE_MS = 10_000

type Routes = ReadonlyMap<string, Route>

interface Batch {
  readonly ids: Set<string>
  readonly routes: Promise<Routes>
}

/**
 * Reads routes in batches: ids that are requested while all queries are busy share the next one, and concurrent requests for an id
 * share one read. So any number of lookups costs the database at most `maxQueries` concurrent queries.
 */
export class RouteReader {
  readonly #source: RouteSource
  readonly #options: ReaderOptions
  readonly #limit: ReturnType<typeof pLimit>
  /** Batches that have not begun; the last one accepts more ids. */
  readonly #waiting: Batch[] = []

  constructor(source: RouteSource, options: ReaderOptions) {
    this.#source = source
    this.#options = options
    this.#limit = pLimit(options.maxQueries)
  }

  /**
   * The route as of a query that begins after this call.
   *
   * @throws ProxyError `limit` when too many ids wait; any error of the source
   */
  async read(sandboxId: string): Promise<Route | undefined> {
    const known = this.#waiting.find(({ ids }) => ids.has(sandboxId))
    const batch = known ?? this.#open()
    batch.ids.add(sandboxId)
    return (await batch.routes).get(sandboxId)
  }

  /** The current routes of many sandboxes, in as many queries as needed. */
  async readMany(sandboxIds: readonly string[]): Promise<Routes> {
    const found = new Map<string, Route>()
    for (let at = 0; at < sandboxIds.length; at += MAX_BATCH) {
      const routes = await this.#query(sandboxIds.slice(at, at + MAX_BATCH))
      for (const [id, route] of routes) found.set(id, route)
    }
    return found
  }

  /** The batch that accepts one more id. */
  #open(): Batch {
    const { maxWaiting } = this.#options
    const count = this.#waiting.reduce((sum, { ids }) => sum + ids.size, 0)
    if (count >= maxWaiting) throw new ProxyError({ kind: 'limit', cap: 'route_lookups', limit: maxWaiting })
    const last = this.#waiting.at(-1)
    if (last !== undefined && last.ids.size < MAX_BATCH) return last
    const ids = new Set<string>()
    const routes = this.#limit(() => {
      this.#waiting.shift()
      return this.#query([...ids])
    })
    const batch = { ids, routes }
    this.#waiting.push(batch)
    return batch
  }

  #query(ids: readonly string[]): Promise<Routes> {
    return within({ what: 'the query for routes', timeoutMs: QUERY_DEADLINE_MS }, () => this.#source.read(ids))
  }
}
