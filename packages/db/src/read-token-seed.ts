import { Secret } from '@sandyard/kit/config/secret'
import type { Db } from './database.ts'
import { TOKEN_SEED_SETTING } from './sandbox-token.ts'

/**
 * The seed of the installation's tokens, which never changes.
 *
 * @throws when no control plane has started on this database yet
 */
export async function readTokenSeed(db: Db): Promise<Secret> {
  const row = await db.selectFrom('server_setting').select('value').where('name', '=', TOKEN_SEED_SETTING).executeTakeFirst()
  if (row === undefined) throw new Error('the installation has no token seed yet')
  return new Secret(row.value)
}
