import type { Db } from '@sandyard/db/database'

/** Stores a value for every process of the installation. Writes only what has changed. */
export async function storeSetting(db: Db, name: string, value: string): Promise<void> {
  await db
    .insertInto('server_setting')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }).where('server_setting.value', 'is distinct from', value))
    .execute()
}
