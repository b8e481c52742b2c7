import type { Db } from '@sandyard/db/database'
import type { Route } from './route.ts'

/** Reads what the proxy may know of sandboxes. Its only query; ids without a row are absent from the answer. */
export async function readRoutes(db: Db, sandboxIds: readonly string[]): Promise<Map<string, Route>> {
  const rows = await db
    .selectFrom('sandbox')
    .select(['sandbox_id', 'incarnation', 'state', 'endpoint_host', 'endpoint_daemon_port'])
    .where('sandbox_id', 'in', sandboxIds)
    .execute()
  const routes = rows.map((row): Route => {
    const { endpoint_host: host, endpoint_daemon_port: daemonPort } = row
    const endpoint = host === null || daemonPort === null ? undefined : { host, daemonPort }
    return { sandboxId: row.sandbox_id, incarnation: row.incarnation, state: row.state, endpoint }
  })
  return new Map(routes.map((route) => [route.sandboxId, route]))
}
