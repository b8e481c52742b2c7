import type { Db } from '@sandyard/db/database'
import { readSealedSecrets, type SealedSecretRow } from '@sandyard/db/rows/read-sealed-secrets'
import { secretPlace } from '@sandyard/db/rows/secret-place'
import { Secret } from '@sandyard/kit/config/secret'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { UnopenedError, type KeyRing } from '@sandyard/kit/secrets/key-ring'
import { readKey, toKey } from './secret-values.ts'

interface Opening {
  /** Undefined: the operator has given no key. */
  readonly ring: KeyRing | undefined
  readonly log: Logger
}

/** The newest values of some secrets, by their keys. A value that no key opens is not there. */
export async function readSecrets(db: Db, keys: readonly string[], { ring, log }: Opening): Promise<Map<string, Secret>> {
  if (ring === undefined) {
    log.warn('a network rule names a secret, but this gateway has no SANDYARD_SECRETS_KEY')
    return new Map()
  }
  const values = new Map<string, Secret>()
  for (const row of await readSealedSecrets(db, keys.map(readKey))) {
    const value = open(row, ring, log)
    if (value !== undefined) values.set(toKey(row.team_id, row.name), value)
  }
  return values
}

function open({ secret_id: secretId, version, sealed, key_id: keyId }: SealedSecretRow, ring: KeyRing, log: Logger): Secret | undefined {
  try {
    return new Secret(ring.open(secretPlace(secretId, version), { keyId, sealed }))
  } catch (err) {
    if (!(err instanceof UnopenedError)) throw err
    log.error({ err, secretId, version, keyId, keyIds: ring.keyIds }, 'no key of this gateway opens a secret')
    return undefined
  }
}
