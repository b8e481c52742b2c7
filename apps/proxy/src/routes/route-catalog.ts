import { FreshCache } from '@sandyard/db/rows/fresh-cache'
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

/**
 * Routes of live sandboxes, read once and dropped when a change is announced.
 *
 * Ids without a row are cached for a short time. No client receives the id of a sandbox before its row exists, so this hides no
 * sandbox. A row that is not live is read each time, because a client may have the answer to a resume before the notification
 * arrives here.
 */
export class RouteCatalog extends FreshCache<Route> {
  constructor(reader: RouteReader, options: CatalogOptions) {
    super({ ...options, read: (sandboxId) => reader.read(sandboxId), isKept: isLive })
  }

  /**
   * Whether a sandbox still runs as in `route`, by a read that begins after this call.
   *
   * @throws any error of the reader
   */
  async isCurrent(route: LiveRoute): Promise<boolean> {
    return isSameRun(await this.findAgain(route.sandboxId), route)
  }
}
