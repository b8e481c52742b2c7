import type { DataDirectory } from '@sandyard/api/program/data/data-directory'
import { parseConfig, type Environment } from '@sandyard/kit/config/parse-config'
import { findKey } from '@sandyard/kit/secrets/find-key'
import type { KeyRing } from '@sandyard/kit/secrets/key-ring'
import { KEY_SETTINGS, keyRingOf } from '@sandyard/kit/secrets/key-settings'

/** The keys of secrets that a server with these settings and this data directory has; undefined without one. @throws ConfigError */
export async function readKeyRing(environment: Environment, directory: DataDirectory | undefined): Promise<KeyRing | undefined> {
  return keyRingOf(parseConfig(KEY_SETTINGS, await findKey(environment, directory?.secretsKey)))
}
