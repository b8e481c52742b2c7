import { isLive, type LiveRoute, type Route, type RouteSource } from './route.ts'

export interface CatalogOptions {
  /** How long a route is believed without a word from the database: the bound where a notification gets lost. */
  readonly maxAgeMs: number
  readonly maxEntries: number
}

interface Entry {
  readonly route: LiveRoute
  readonly readAt: number
}

interface Flight {
  readonly route: Promise<Route | undefined>
  readonly mark: FlightMark
}

interface FlightMark {
  /** Something changed while it was under way, so what it read may be of before. */
  isOutdated: boolean
}

/** A read that a change overtakes is repeated; more changes than this in one lookup are a sandbox that flaps. */
const MAX_READS = 4

/**
 * Routes of live sandboxes, read once and forgotten at the first sign of a change. Only live ones are remembered: every lookup
 * that would end in "not found" asks the source, because the change that makes it wrong may not have been heard of yet.
 */
export class RouteCatalog {
  readonly #source: RouteSource
  readonly #options: CatalogOptions
  /** In the order of their reads, so the first is the oldest. */
  readonly #entries = new Map<string, Entry>()
  readonly #flights = new Map<string, Flight>()

  constructor(source: RouteSource, options: CatalogOptions) {
    this.#source = source
    this.#options = options
  }

  /**
   * The live route of a sandbox, or undefined: unknown, not running, or ended.
   *
   * @throws what the source throws
   */
  async find(sandboxId: string): Promise<LiveRoute | undefined> {
    const known = this.#entries.get(sandboxId)
    if (known !== undefined && performance.now() - known.readAt < this.#options.maxAgeMs) return known.route
    const joined = this.#flights.get(sandboxId)
    if (joined !== undefined) {
      const route = await joined.route
      if (isLive(route) && !joined.mark.isOutdated) return route
      // That read began before this call: it may tell of a time before the sandbox ran.
    }
    return await this.#read(sandboxId)
  }

  /**
   * Whether a sandbox still runs as `route` says, by a read that begins after this call.
   *
   * @throws what the source throws
   */
  async isCurrent(route: LiveRoute): Promise<boolean> {
    this.#entries.delete(route.sandboxId)
    await this.#flights.get(route.sandboxId)?.route
    const current = await this.#read(route.sandboxId)
    return current?.incarnation === route.incarnation
  }

  forget(sandboxId: string): void {
    this.#entries.delete(sandboxId)
    const flight = this.#flights.get(sandboxId)
    if (flight !== undefined) flight.mark.isOutdated = true
    this.#flights.delete(sandboxId)
  }

  forgetAll(): void {
    this.#entries.clear()
    for (const { mark } of this.#flights.values()) mark.isOutdated = true
    this.#flights.clear()
  }

  async #read(sandboxId: string): Promise<LiveRoute | undefined> {
    let route: Route | undefined
    for (let reads = 0; reads < MAX_READS; reads++) {
      const flight = this.#flights.get(sandboxId) ?? this.#start(sandboxId)
      route = await flight.route
      if (!flight.mark.isOutdated) break
    }
    return isLive(route) ? route : undefined
  }

  #start(sandboxId: string): Flight {
    const mark: FlightMark = { isOutdated: false }
    const flight = { mark, route: this.#readOnce(sandboxId, mark) }
    this.#flights.set(sandboxId, flight)
    return flight
  }

  async #readOnce(sandboxId: string, mark: FlightMark): Promise<Route | undefined> {
    const readAt = performance.now()
    try {
      const routes = await this.#source.read([sandboxId])
      const route = routes.get(sandboxId)
      if (!mark.isOutdated) this.#remember(sandboxId, route, readAt)
      return route
    } finally {
      if (this.#flights.get(sandboxId)?.mark === mark) this.#flights.delete(sandboxId)
    }
  }

  #remember(sandboxId: string, route: Route | undefined, readAt: number): void {
    this.#entries.delete(sandboxId)
    if (!isLive(route)) return
    const oldest = this.#entries.size >= this.#options.maxEntries ? this.#entries.keys().next().value : undefined
    if (oldest !== undefined) this.#entries.delete(oldest)
    this.#entries.set(sandboxId, { route, readAt })
  }
}
