import { hkdfSync, randomBytes } from 'node:crypto'
import { randomId } from '@sandyard/kit/ids/ids'
import { Secret } from '@sandyard/kit/config/secret'
import type { Db } from '@sandyard/db/database'
import { TOKEN_SEED_SETTING } from '@sandyard/db/sandbox-token'

/** Values that the first start of an installation creates, once for all replicas. */
export interface Installation {
  /** The label of this installation's objects on an engine. */
  readonly id: string
  /** Sandbox tokens are derived from it (docs/decisions/005-token-seed.md). */
  readonly tokenSeed: Secret
}

const ID_LENGTH = 12
const SEED_BYTES = 32
const KEY_BYTES = 32

export async function ensureInstallation(db: Db): Promise<Installation> {
  return {
    id: await ensureSetting(db, 'installation_id', () => randomId(ID_LENGTH)),
    tokenSeed: new Secret(await ensureSetting(db, TOKEN_SEED_SETTING, () => randomBytes(SEED_BYTES).toString('hex'))),
  }
}

/** Returns the value that was stored first: servers that start together get the same one. */
export async function ensureSetting(db: Db, name: string, make: () => string): Promise<string> {
  const find = (): Promise<{ value: string } | undefined> =>
    db.selectFrom('server_setting').select('value').where('name', '=', name).executeTakeFirst()
  const found = await find()
  if (found !== undefined) return found.value
  await db
    .insertInto('server_setting')
    .values({ name, value: make() })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const landed = await find()
  if (landed === undefined) throw new Error(`the setting ${name} was deleted meanwhile`)
  return landed.value
}

/** Derives a key of the installation for one purpose. The seed and keys for other purposes cannot be computed from it. */
export function deriveKey(tokenSeed: Secret, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', tokenSeed.reveal(), '', `sandyard ${purpose}`, KEY_BYTES))
}
