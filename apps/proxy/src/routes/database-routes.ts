import type { Database } from '@sandyard/db/database'
import { listen } from '@sandyard/db/listen'
import { CHANNELS } from '@sandyard/db/notify'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { readRoutes, readSecured, readTokenSeed } from './route-queries.ts'
import type { SecuredSandboxes } from '../signed/sandbox-tokens.ts'
import type { RouteSource } from './route.ts'

/** The routes of this installation's database: each change of a sandbox's row is told by `route_changed` when it commits. */
export function databaseRoutes(database: Database, log: Logger): RouteSource & SecuredSandboxes {
  return {
    read: (sandboxIds) => readRoutes(database.db, sandboxIds),
    readSecured: () => readSecured(database.db),
    readTokenSeed: () => readTokenSeed(database.db),
    watch: (watcher) =>
      listen({
        url: database.url,
        applicationName: 'sandyard-proxy-routes',
        channels: [CHANNELS.routeChanged],
        log,
        onNotification: (_, sandboxId) => watcher.changed(sandboxId),
        onRefresh: () => watcher.refresh(),
      }),
  }
}
