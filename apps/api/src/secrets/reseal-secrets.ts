import { sql } from 'kysely'
import type { Database, Db, Tx } from '@sandyard/db/database'
import { inBatches } from '@sandyard/db/in-batches'
import { secretPlace } from '@sandyard/db/rows/secret-place'
import { UnopenedError, type KeyRing } from '@sandyard/kit/secrets/key-ring'

/** Rows of one transaction, and transactions of one call. */
const BATCHES = { size: 100, most: 10_000 }

export interface Resealed {
  readonly resealed: number
  /** Rows that their key does not open: they were changed in the database. They stay as they are. */
  readonly broken: number
}

interface Row {
  readonly secret_id: string
  readonly version: number
  readonly sealed: Buffer
  readonly key_id: string
}

/**
 * Encrypts the values of former keys with the newest key. Values of keys that are not in the ring stay as they are. Several servers may run
 * it at once.
 */
export async function resealSecrets(database: Database, ring: KeyRing, signal?: AbortSignal): Promise<Resealed> {
  const former = ring.keyIds.filter((keyId) => keyId !== ring.keyId)
  if (former.length === 0) return { resealed: 0, broken: 0 }
  let after = { secret_id: '', version: 0 }
  let broken = 0
  const seen = await inBatches({ ...BATCHES, signal }, (size) =>
    database.transaction(async (tx) => {
      const { rows } = await sql<Row>`
        select secret_id, version, sealed, key_id from secret_version
        where key_id = any(${former}) and (secret_id, version) > (${after.secret_id}, ${after.version})
        order by secret_id, version limit ${size} for update skip locked
      `.execute(tx)
      for (const row of rows) if (!(await reseal(tx, ring, row))) broken += 1
      after = rows.at(-1) ?? after
      return rows.length
    }),
  )
  return { resealed: seen - broken, broken }
}

/** False when its key does not open it. */
async function reseal(tx: Tx, ring: KeyRing, { secret_id, version, sealed, key_id: keyId }: Row): Promise<boolean> {
  const place = secretPlace(secret_id, version)
  try {
    const anew = ring.seal(place, ring.open(place, { keyId, sealed }))
    await tx
      .updateTable('secret_version')
      .set({ sealed: anew.sealed, key_id: anew.keyId })
      .where('secret_id', '=', secret_id)
      .where('version', '=', version)
      .where('key_id', '=', keyId)
      .execute()
    return true
  } catch (err) {
    if (err instanceof UnopenedError) return false
    throw err
  }
}

/** How many stored values each key has encrypted, of secrets and of webhooks, by the ids of the keys. */
export async function countByKey(db: Db): Promise<Map<string, number>> {
  const { rows } = await sql<{ key_id: string; count: number }>`
    select key_id, count(*) from (select key_id from secret_version union all select key_id from webhook) as sealed
    group by key_id order by key_id
  `.execute(db)
  return new Map(rows.map(({ key_id, count }) => [key_id, count]))
}
