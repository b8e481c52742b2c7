import type { NewSecret, SecretUpdate } from '@sandyard/api-contract/secrets/secret'
import { isStorable } from '../text/is-storable.ts'
import { invalidSecretsRequest } from './secret-errors.ts'
import { SECRET_ID_PREFIX } from './secret-id.ts'

const MAX_ENTRIES = 32
const MAX_KEY_BYTES = 128
const MAX_TEXT_BYTES = 1024
const MAX_METADATA_BYTES = 8192
const MAX_VALUE_BYTES = 64 * 1024

/** The name as it is stored. @throws AppError `invalid_argument` for one that looks like an id */
export function readSecretName({ name }: Pick<NewSecret, 'name'>): string {
  const stored = name.toLowerCase()
  if (stored.startsWith(SECRET_ID_PREFIX)) throw invalidSecretsRequest()
  return stored
}

/** @throws AppError `invalid_argument` for what is over the limits of control-plane.md 16, or cannot be stored */
export function checkSecret({ value, metadata = {} }: SecretUpdate): void {
  const entries = Object.entries(metadata)
  const sizes = entries.map(([key, text]) => ({ key: Buffer.byteLength(key), text: Buffer.byteLength(text) }))
  const isValid =
    Buffer.byteLength(value) <= MAX_VALUE_BYTES &&
    entries.length <= MAX_ENTRIES &&
    sizes.every(({ key, text }) => key <= MAX_KEY_BYTES && text <= MAX_TEXT_BYTES) &&
    sizes.reduce((sum, { key, text }) => sum + key + text, 0) <= MAX_METADATA_BYTES &&
    isStorable(value) &&
    isStorable(metadata)
  if (!isValid) throw invalidSecretsRequest()
}
