import type { SecretUpdate } from '@sandyard/api-contract/secrets/secret'
import { sql } from 'kysely'
import type { Tx } from '@sandyard/db/database'
import type { KeyRing } from '@sandyard/kit/secrets/key-ring'
import { checkSecret } from './check-secret.ts'
import { insertVersion } from './insert-version.ts'
import { secretNotFound } from './secret-errors.ts'
import { keyOfSecret, type SecretRow } from './secret-rows.ts'

export interface SecretChange {
  readonly teamId: string
  readonly idOrName: string
  readonly body: SecretUpdate
}

/** Adds a version. Absent metadata stays as it is. @throws AppError `invalid_argument`, `not_found` */
export async function updateSecret(tx: Tx, ring: KeyRing, { teamId, idOrName, body }: SecretChange): Promise<SecretRow> {
  checkSecret(body)
  const row = await tx
    .updateTable('secret')
    .set((eb) => ({
      current_version: eb('current_version', '+', 1),
      updated_at: sql<Date>`clock_timestamp()`,
      ...(body.metadata !== undefined && { metadata: JSON.stringify(body.metadata) }),
    }))
    .where('team_id', '=', teamId)
    .where((eb) => eb.and(keyOfSecret(idOrName)))
    .returningAll()
    .executeTakeFirst()
  if (row === undefined) throw secretNotFound()
  await insertVersion(tx, ring, { row, value: body.value })
  return row
}
