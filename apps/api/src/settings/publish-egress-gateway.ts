import type { Db } from '@sandyard/db/database'
import { EGRESS_GATEWAY_SETTING } from '@sandyard/db/egress-gateway-setting'

/** Time until the gateway can learn of another address. */
export const PUBLISH_EVERY_MS = 5000

/** Tells the egress gateway the address to which the runtime redirects connections; undefined: it has none. Writes only what has changed. */
export async function publishEgressGateway(db: Db, host: string | undefined): Promise<void> {
  if (host === undefined) {
    await db.deleteFrom('server_setting').where('name', '=', EGRESS_GATEWAY_SETTING).execute()
    return
  }
  await db
    .insertInto('server_setting')
    .values({ name: EGRESS_GATEWAY_SETTING, value: host })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: host }).where('server_setting.value', 'is distinct from', host))
    .execute()
}
