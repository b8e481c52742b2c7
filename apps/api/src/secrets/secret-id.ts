import { randomBytes } from 'node:crypto'

/** Crockford's base 32, in lower case. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const BITS = 5n
const LENGTH = 26

/** Of every id of a secret, and of no name. */
export const SECRET_ID_PREFIX = 'sec_'

/** `sec_` and a UUID of version 7 in base 32 (control-plane.md 2.1). */
export function newSecretId(): string {
  const uuid = randomBytes(16)
  uuid.writeUIntBE(Date.now(), 0, 6)
  uuid[6] = 0x70 | ((uuid[6] ?? 0) & 0x0f)
  uuid[8] = 0x80 | ((uuid[8] ?? 0) & 0x3f)
  let rest = BigInt(`0x${uuid.toString('hex')}`)
  let text = ''
  for (let i = 0; i < LENGTH; i += 1) {
    text = `${ALPHABET[Number(rest & 31n)]}${text}`
    rest >>= BITS
  }
  return `${SECRET_ID_PREFIX}${text}`
}
