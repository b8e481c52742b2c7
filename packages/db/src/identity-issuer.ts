import type { Db } from './database.ts'

/** The row of `server_setting` with the issuer of identity tokens, a URL. */
export const IDENTITY_ISSUER_SETTING = 'identity_issuer'

/**
 * The issuer of the identity tokens of sandboxes, as the control plane has stored it at its start.
 *
 * @throws when no control plane has stored it yet
 */
export async function readIdentityIssuer(db: Db): Promise<string> {
  const row = await db.selectFrom('server_setting').select('value').where('name', '=', IDENTITY_ISSUER_SETTING).executeTakeFirst()
  if (row === undefined) throw new Error('the installation has no issuer of identity tokens yet')
  return row.value
}
