import { LRUCache } from 'lru-cache'
import type { RouteReader } from './route-reader.ts'
import { isLive, isSameRun, type LiveRoute, type Route } from './route.ts'

export interface CatalogOptions {
  /** How long a route is trusted without a notification. It bounds the effect of a lost one. */
  readonly maxAgeMs: number
  /** How long the absence of a row is trusted. */
  readonly missAgeMs: number
  /** The cap of cached routes, and of cached ids without a row. */
  readonly maxEntries: number
}

interface Flight {
  readonly route: Promise<Route | undefined>
  /** A change came during the read, so its result may be older than the change. */
  isOutdated: boolean
}

/** A read is repeated when a change comes during it. More changes than this in one lookup mean that the sandbox flaps. */
const MAX_READS = 4

/**
 * Routes of live sandboxes, read once and dropped when a change is announced.
 *
 * Ids without a row are cached for a short time. No client receives the id of a sandbox before its row exists, so this hides no
 * sandbox. A row that is not live is read each time, because a client may have the answer to a resume before the notification
 * arrives here.
 */
export class RouteCatalog {
  readonly #reader: RouteReader
  readonly #live: LRUCache<string, LiveRoute>
  readonly #unknown: LRUCache<string, true>
  readonly #flights = new Map<string, Flight>()

  constructor(reader: RouteReader, { maxAgeMs, missAgeMs, maxEntries }: CatalogOptions) {
    this.#reader = reader
    this.#live = new LRUCache({ max: maxEntries, ttl: maxAgeMs })
    this.#unknown = new LRUCache({ max: maxEntries, ttl: missAgeMs })
  }

  /**
   * Returns the route of a sandbox, or undefined without a row. A route that is not live is as of a read that began after this call.
   *
   * @throws any error of the reader
   */
  async find(sandboxId: string): Promise<Route | undefined> {
    const known = this.#live.get(sandboxId)
    if (known !== undefined || this.#unknown.has(sandboxId)) return known
    const joined = this.#flights.get(sandboxId)
    if (joined !== undefined) {
      const route = await joined.route
      // A row that is not live is not used: that read began before this call, perhaps before the sandbox ran.
      if (!joined.isOutdated && (route === undefined || isLive(route))) return route
    }
    return await this.#read(sandboxId)
  }

  /**
   * Whether a sandbox still runs as in `route`, by a read that begins after this call.
   *
   * @throws any error of the reader
   */
  async isCurrent(route: LiveRoute): Promise<boolean> {
    this.#live.delete(route.sandboxId)
    await this.#flights.get(route.sandboxId)?.route
    const current = await this.#read(route.sandboxId)
    return isSameRun(current, route)
  }

  forget(sandboxId: string): void {
    this.#live.delete(sandboxId)
    this.#unknown.delete(sandboxId)
    const flight = this.#flights.get(sandboxId)
    if (flight !== undefined) flight.isOutdated = true
    this.#flights.delete(sandboxId)
  }

  forgetAll(): void {
    this.#live.clear()
    this.#unknown.clear()
    for (const flight of this.#flights.values()) flight.isOutdated = true
    this.#flights.clear()
  }

  async #read(sandboxId: string): Promise<Route | undefined> {
    let route: Route | undefined
    for (let reads = 0; reads < MAX_READS; reads++) {
      const flight = this.#flights.get(sandboxId) ?? this.#start(sandboxId)
      route = await flight.route
      if (!flight.isOutdated) break
    }
    return route
  }

  #start(sandboxId: string): Flight {
    const flight: Flight = { isOutdated: false, route: this.#reader.read(sandboxId) }
    this.#flights.set(sandboxId, flight)
    const settle = (): void => {
      if (this.#flights.get(sandboxId) === flight) this.#flights.delete(sandboxId)
    }
    flight.route.then((route) => {
      settle()
      if (flight.isOutdated) return
      if (route === undefined) this.#unknown.set(sandboxId, true)
      else if (isLive(route)) this.#live.set(sandboxId, route)
    }, settle)
    return flight
  }
}
