import type { Db, Tx } from '@sandyard/db/database'
import { CREDENTIAL_PREFIXES, issueCredential } from '../auth/credential.ts'

export interface NewAccessToken {
  readonly userId: string
  readonly name: string
  readonly expiresAt: Date | undefined
}

/** A token and its raw value, which is readable only now. */
export type IssuedAccessToken = NonNullable<Awaited<ReturnType<typeof createAccessToken>>>

/** Undefined when the user was deleted meanwhile. */
export async function createAccessToken(tx: Tx, { userId, name, expiresAt }: NewAccessToken) {
  const user = await tx.selectFrom('app_user').select('id').where('id', '=', userId).forKeyShare().executeTakeFirst()
  if (user === undefined) return undefined
  const { raw, stored } = issueCredential(CREDENTIAL_PREFIXES.accessToken)
  const row = await tx
    .insertInto('access_token')
    .values({ user_id: userId, name, expires_at: expiresAt ?? null, ...stored })
    .returningAll()
    .executeTakeFirstOrThrow()
  return { row, token: raw }
}

/** Servers forget it at once, as an API key. False when the user has no such token. */
export async function deleteAccessToken(db: Db, { userId, id }: { readonly userId: string; readonly id: string }): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('access_token').where('user_id', '=', userId).where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}
