import type { Db } from '@sandyard/db/database'
import { EGRESS_GATEWAY_SETTING } from '@sandyard/db/egress-gateway-setting'
import { storeSetting } from './store-setting.ts'

/** Time until the gateway can learn of another address. */
export const PUBLISH_EVERY_MS = 5000

/** Tells the egress gateway the address to which the runtime redirects connections; undefined: it has none. Writes only what has changed. */
export async function publishEgressGateway(db: Db, host: string | undefined): Promise<void> {
  if (host === undefined) {
    await db.deleteFrom('server_setting').where('name', '=', EGRESS_GATEWAY_SETTING).execute()
    return
  }
  await storeSetting(db, EGRESS_GATEWAY_SETTING, host)
}
