import type { Tx } from '@sandyard/db/database'
import { secretPlace } from '@sandyard/db/rows/secret-place'
import type { KeyRing } from '@sandyard/kit/secrets/key-ring'
import type { SecretRow } from './secret-rows.ts'

/** Newest versions of a secret that are kept. Only the newest one is used. */
const KEPT_VERSIONS = 10

/** Stores the value of the newest version, encrypted, and deletes the oldest versions. */
export async function insertVersion(tx: Tx, ring: KeyRing, { row, value }: { row: SecretRow; value: string }): Promise<void> {
  const { secret_id, current_version: version } = row
  const { keyId, sealed } = ring.seal(secretPlace(secret_id, version), value)
  await tx.insertInto('secret_version').values({ secret_id, version, sealed, key_id: keyId }).execute()
  await tx
    .deleteFrom('secret_version')
    .where('secret_id', '=', secret_id)
    .where('version', '<=', version - KEPT_VERSIONS)
    .execute()
}
