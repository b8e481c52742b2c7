import { BatchReader } from '@sandyard/db/rows/batch-reader'
import { ProxyError } from '../answers/proxy-error.ts'
import type { Route, RouteSource } from './route.ts'

export interface ReaderOptions {
  readonly maxQueries: number
  /** The cap of ids that wait for a query; over it a read throws ProxyError `limit`. */
  readonly maxWaiting: number
}

/** Reads routes in batches. */
export class RouteReader extends BatchReader<Route> {
  constructor(source: RouteSource, { maxQueries, maxWaiting }: ReaderOptions) {
    super({
      what: 'the query for routes',
      read: (ids) => source.read(ids),
      maxQueries,
      maxWaiting,
      refuse: () => new ProxyError({ kind: 'limit', cap: 'route_lookups', limit: maxWaiting }),
    })
  }
}
