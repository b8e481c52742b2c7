import type { Database } from '@sandyard/db/database'
import { inBatches } from '@sandyard/db/in-batches'
import type { KeyRing } from '@sandyard/kit/secrets/key-ring'
import { NIL_UUID } from '@sandyard/kit/ids/uuid'
import type { Resealed } from '../secrets/reseal-secrets.ts'
import { openSecret, sealSecret } from './webhook-secret.ts'

/** Rows of one transaction, and transactions of one turn. */
const BATCHES = { size: 100, most: 1000 }

/**
 * Encrypts the signing secrets of former keys with the newest key, so that a rotation ends. Secrets that no key of the ring opens stay as they are. Several
 * servers may run it at once.
 */
export async function resealWebhooks(database: Database, keyRing: KeyRing, signal?: AbortSignal): Promise<Resealed> {
  const former = keyRing.keyIds.filter((keyId) => keyId !== keyRing.keyId)
  if (former.length === 0) return { resealed: 0, broken: 0 }
  let after = NIL_UUID
  let broken = 0
  const seen = await inBatches({ ...BATCHES, signal }, (size) =>
    database.transaction(async (tx) => {
      const rows = await tx
        .selectFrom('webhook')
        .select(['webhook_id', 'key_id', 'sealed_secret'])
        .where('key_id', 'in', former)
        .where('webhook_id', '>', after)
        .orderBy('webhook_id')
        .limit(size)
        .forNoKeyUpdate()
        .skipLocked()
        .execute()
      for (const row of rows) {
        const secret = openSecret(keyRing, row.webhook_id, row)
        if (secret === undefined) {
          broken += 1
          continue
        }
        await tx
          .updateTable('webhook')
          .set(sealSecret(keyRing, row.webhook_id, secret))
          .where('webhook_id', '=', row.webhook_id)
          .execute()
      }
      after = rows.at(-1)?.webhook_id ?? after
      return rows.length
    }),
  )
  return { resealed: seen - broken, broken }
}
