import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database, Db } from '@sandyard/db/database'
import { Secret } from '@sandyard/kit/config/secret'
import type { Environment } from '@sandyard/kit/config/parse-config'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { findKey, hasKey, madeKeyFile } from '@sandyard/kit/secrets/find-key'
import { KeyRing } from '@sandyard/kit/secrets/key-ring'
import { KEY_SETTINGS, KEY_SOURCE_SETTINGS } from '@sandyard/kit/secrets/key-settings'
import { countByKey } from '../secrets/reseal-secrets.ts'
import { ensureSetting } from '../settings/installation.ts'
import { writePrivateFile } from './data/write-private-file.ts'

const KEY_BYTES = 32
/** The row of `server_setting` with the id of the key that a server has made; the key itself is in no database. */
const MADE_KEY_SETTING = 'made_secrets_key_id'
const { env: KEY } = KEY_SETTINGS.secretsKey

export interface KeyNeeds {
  readonly environment: Environment
  /** Where the key is made. */
  readonly file: string
  readonly database: Database
  readonly log: Logger
}

/**
 * The environment with the key of secrets. An installation whose operator sets none gets one, which its first server makes. A key that
 * replaced a lost one would hide the loss, and two servers must not use two keys: then there is none, and secrets are off.
 *
 * @throws ConfigError of `findKey`
 */
export async function ensureSecretsKey({ environment, file: ownFile, database: { db }, log }: KeyNeeds): Promise<Environment> {
  const file = madeKeyFile(environment, ownFile)
  const isGiven = hasKey(environment) || (environment[KEY_SOURCE_SETTINGS.secretsKeyCommand.env] ?? '') !== ''
  if (!isGiven && !existsSync(file) && !(await hasSealed(db))) makeKey(file)
  const keyed = await findKey(environment, file)
  const key = keyed[KEY]
  if (isGiven) return keyed
  const madeId = key === undefined ? undefined : await ensureSetting(db, MADE_KEY_SETTING, () => idOf(key))
  if (key !== undefined && madeId === idOf(key)) return keyed
  log.warn(
    { file },
    'secrets are off: the key that encrypted them is not in the data directory of this server; give all servers SANDYARD_SECRETS_KEY (docs/secrets.md)',
  )
  return Object.fromEntries(Object.entries(keyed).filter(([name]) => name !== KEY))
}

/** Whether an earlier key has encrypted something, or was made elsewhere. */
async function hasSealed(db: Db): Promise<boolean> {
  const [made, sealed] = await Promise.all([
    db.selectFrom('server_setting').select('name').where('name', '=', MADE_KEY_SETTING).executeTakeFirst(),
    countByKey(db),
  ])
  return made !== undefined || sealed.size > 0
}

/** Another server with the same directory may make it at the same time: the first one stays. */
function makeKey(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${randomBytes(8).toString('hex')}`
  try {
    writePrivateFile(draft, `${randomBytes(KEY_BYTES).toString('hex')}\n`)
    linkSync(draft, file)
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'EEXIST') throw err
  } finally {
    rmSync(draft, { force: true })
  }
}

function idOf(key: string): string {
  return new KeyRing([new Secret(key)]).keyId
}
