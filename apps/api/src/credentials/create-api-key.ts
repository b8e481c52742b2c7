import type { KeyScope } from '@sandyard/api-contract/credentials/api-key'
import type { Tx } from '@sandyard/db/database'
import { CREDENTIAL_PREFIXES, issueCredential } from '../auth/credential.ts'
import { type ApiKeyRow, selectApiKeys } from './api-key-rows.ts'

export interface NewApiKey {
  readonly teamId: string
  readonly name: string
  /** Absent: an administrator. */
  readonly createdBy?: string | undefined
  readonly expiresAt?: Date | undefined
  readonly scope?: KeyScope | undefined
}

/** A key and its raw value, which is readable only now. */
export interface IssuedApiKey {
  readonly row: ApiKeyRow
  readonly key: string
}

/** Undefined when the team was deleted meanwhile. A creator that was deleted meanwhile is left out. */
export async function createApiKey(tx: Tx, { teamId, name, createdBy, expiresAt, scope }: NewApiKey): Promise<IssuedApiKey | undefined> {
  const team = await tx.selectFrom('team').select('id').where('id', '=', teamId).forKeyShare().executeTakeFirst()
  if (team === undefined) return undefined
  const creator =
    createdBy === undefined
      ? undefined
      : await tx.selectFrom('app_user').select('id').where('id', '=', createdBy).forKeyShare().executeTakeFirst()
  const { raw, stored } = issueCredential(CREDENTIAL_PREFIXES.apiKey)
  const { id } = await tx
    .insertInto('api_key')
    .values({ team_id: teamId, created_by: creator?.id ?? null, name, expires_at: expiresAt ?? null, scope: scope ?? null, ...stored })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { row: await selectApiKeys(tx).where('api_key.id', '=', id).executeTakeFirstOrThrow(), key: raw }
}
