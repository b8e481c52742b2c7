import type { Db, Tx } from '@sandyard/db/database'
import { holdGrantor } from '../auth/grantor.ts'
import { getUser, type Principal } from '../auth/principal.ts'
import { checkTokenCap } from './credential-caps.ts'
import { CREDENTIAL_PREFIXES, issueCredential } from '../auth/credential.ts'

export interface NewAccessToken {
  readonly by: Principal
  readonly name: string
  readonly expiresAt: Date | undefined
}

/** A token and its raw value, which is readable only now. */
export type IssuedAccessToken = Awaited<ReturnType<typeof createAccessToken>>

/** @throws AppError `unauthenticated` when the caller has lost its rights since the authentication; `resource_exhausted` when the user has too many tokens */
export async function createAccessToken(tx: Tx, { by, name, expiresAt }: NewAccessToken) {
  const { id: userId } = getUser(by)
  await tx.selectFrom('app_user').select('id').where('id', '=', userId).forNoKeyUpdate().execute()
  await holdGrantor(tx, by)
  await checkTokenCap(tx, userId)
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
