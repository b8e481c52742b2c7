import type { Db } from '@sandyard/db/database'
import { secretNotFound } from './secret-errors.ts'
import { keyOfSecret } from './secret-rows.ts'

/** Deletes a secret with all its versions. @throws AppError `not_found` */
export async function deleteSecret(db: Db, teamId: string, idOrName: string): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom('secret')
    .where('team_id', '=', teamId)
    .where((eb) => eb.and(keyOfSecret(idOrName)))
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw secretNotFound()
}
