import type { Db } from '@sandyard/db/database'
import { TOKEN_SEED_SETTING } from '@sandyard/db/sandbox-token'
import { Secret } from '@sandyard/kit/config/secret'
import type { Route } from './route.ts'

/** What the proxy knows of sandboxes; ids without a row are absent from the answer. */
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

/** The ids of the sandboxes that have a token, whatever their state. */
export async function readSecured(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('sandbox').select('sandbox_id').where('is_secure', '=', true).execute()
  return rows.map((row) => row.sandbox_id)
}

/** @throws when no control plane has started on this database yet */
export async function readTokenSeed(db: Db): Promise<Secret> {
  const row = await db.selectFrom('server_setting').select('value').where('name', '=', TOKEN_SEED_SETTING).executeTakeFirst()
  if (row === undefined) throw new Error('the installation has no token seed yet')
  return new Secret(row.value)
}
