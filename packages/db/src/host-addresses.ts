import type { Db } from './database.ts'

/** The row of `server_setting` with the addresses and networks of the engine's host, separated by commas. The egress gateway writes it: it is in the host's network. */
const SETTING = 'host_addresses'

/** Tells the addresses of the host to the control plane, which may be in a network of its own. Writes only what has changed. */
export async function storeHostAddresses(db: Db, addresses: readonly string[]): Promise<void> {
  const value = addresses.join(',')
  await db
    .insertInto('server_setting')
    .values({ name: SETTING, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }).where('server_setting.value', 'is distinct from', value))
    .execute()
}

/** Empty before a gateway has run. */
export async function readHostAddresses(db: Db): Promise<readonly string[]> {
  const row = await db.selectFrom('server_setting').select('value').where('name', '=', SETTING).executeTakeFirst()
  return (row?.value ?? '').split(',').filter((address) => address !== '')
}
