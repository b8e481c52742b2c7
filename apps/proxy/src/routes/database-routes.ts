import { CHANNELS } from '@sandyard/db/notify'
import type { Database, Db } from '@sandyard/db/database'
import { listen } from '@sandyard/db/listen'
import { readTokenSeed } from '@sandyard/db/read-token-seed'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import type { ProxySource, Route } from './route.ts'

/** The routes of this installation's database: each change of a sandbox's row is announced on `route_changed` at its commit. */
export function databaseRoutes(database: Database, log: Logger): ProxySource {
  const { db } = database
  return {
    read: (sandboxIds) => readRoutes(db, sandboxIds),
    readSecured: (after, limit) => readSecured(db, after, limit),
    readTokenSeed: () => readTokenSeed(db),
    watch: (watcher) =>
      listen({
        url: database.directUrl,
        applicationName: 'sandyard-proxy-routes',
        channels: [CHANNELS.routeChanged],
        log,
        onNotification: (_, sandboxId) => watcher.changed(sandboxId),
        onRefresh: () => watcher.refresh(),
        onLost: () => watcher.lost(),
      }),
  }
}

async function readRoutes(db: Db, sandboxIds: readonly string[]): Promise<Map<string, Route>> {
  const rows = await db
    .selectFrom('sandbox')
    .select(['sandbox_id', 'team_id', 'incarnation', 'state', 'endpoint_host', 'endpoint_daemon_port', 'started_at'])
    .select(['is_secure', 'network', 'auto_resume', 'pause_keep'])
    .where('sandbox_id', 'in', sandboxIds)
    .execute()
  const routes = rows.map((row): Route => {
    const { endpoint_host: host, endpoint_daemon_port: daemonPort } = row
    const endpoint = host === null || daemonPort === null ? undefined : { host, daemonPort }
    return {
      sandboxId: row.sandbox_id,
      teamId: row.team_id,
      incarnation: row.incarnation,
      state: row.state,
      endpoint,
      startedAt: row.started_at?.getTime(),
      isSecure: row.is_secure,
      isPublic: row.network.allowPublicTraffic !== false,
      maskHost: row.network.maskRequestHost,
      httpsPorts: row.network.httpsPorts ?? [],
      // Without its memory nothing in it could answer (control-plane.md 19.6).
      wakes: row.auto_resume && row.pause_keep !== 'files',
    }
  })
  return new Map(routes.map((route) => [route.sandboxId, route]))
}

async function readSecured(db: Db, after: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('sandbox')
    .select('sandbox_id')
    .where('is_secure', '=', true)
    .where('sandbox_id', '>', after)
    .orderBy('sandbox_id')
    .limit(limit)
    .execute()
  return rows.map((row) => row.sandbox_id)
}
