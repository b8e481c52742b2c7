import type { Selectable } from 'kysely'
import type { SecretInfo } from '@sandyard/api-contract/secrets/secret'
import type { SecretTable } from '@sandyard/db/schema/secret'
import { isStorable } from '../text/is-storable.ts'
import { SECRET_ID_PREFIX } from './secret-id.ts'

export type SecretRow = Selectable<SecretTable>

/** The column and value that an id or a name in a path stands for: no name begins as ids do, so none can hide a secret with an id. */
export function keyOfSecret(idOrName: string): { readonly secret_id: string } | { readonly name: string } {
  const text = idOrName.toLowerCase()
  // No row has the empty text.
  const value = isStorable(text) ? text : ''
  return text.startsWith(SECRET_ID_PREFIX) ? { secret_id: value } : { name: value }
}

export function toSecretInfo(row: SecretRow): SecretInfo {
  return {
    secretID: row.secret_id,
    name: row.name,
    currentVersion: row.current_version,
    metadata: row.metadata,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
