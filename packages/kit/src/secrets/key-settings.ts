import { env, SettingProblem, type ConfigOf } from '../config/parse-config.ts'
import { Secret } from '../config/secret.ts'
import { KeyRing } from './key-ring.ts'

/** The settings of the key ring. The keys are never in the database. */
export const KEY_SETTINGS = {
  secretsKey: env.checked('SANDYARD_SECRETS_KEY', readKey, {
    kind: 'secret',
    default: undefined,
    doc: 'key that encrypts secrets and the signing secrets of webhooks: 32 bytes in hex or base64. Without one the first server makes it',
  }),
  secretsOldKeys: env.checked('SANDYARD_SECRETS_OLD_KEYS', readKeys, {
    kind: 'secret',
    default: [],
    doc: 'former values of SANDYARD_SECRETS_KEY, separated by commas: what they encrypted can still be read',
  }),
}

/** Other places of the key, which `findKey` reads before all other settings. */
export const KEY_SOURCE_SETTINGS = {
  secretsKeyCommand: env.text('SANDYARD_SECRETS_KEY_COMMAND', {
    default: undefined,
    doc: 'program that prints the key in place of SANDYARD_SECRETS_KEY, with arguments separated by spaces, without a shell; it may take 10 s',
  }),
  secretsKeyPath: env.text('SANDYARD_SECRETS_KEY_PATH', {
    default: undefined,
    doc: 'file in which the first server makes a key when no other is set, and programs read it; default: `secrets/key` in the data directory',
  }),
}

/** Undefined without a key. */
export function keyRingOf({ secretsKey, secretsOldKeys }: ConfigOf<typeof KEY_SETTINGS>): KeyRing | undefined {
  return secretsKey === undefined ? undefined : new KeyRing([secretsKey, ...secretsOldKeys])
}

function readKeys(text: string): readonly Secret[] {
  const keys = text.split(',').filter((part) => part.trim() !== '')
  return keys.map(readKey)
}

function readKey(text: string): Secret {
  const key = new Secret(text)
  try {
    void new KeyRing([key])
  } catch (cause) {
    throw new SettingProblem('is not a key of 32 bytes in hex or base64', { cause })
  }
  return key
}
