import { createHash } from 'node:crypto'

/** SHA-512 in hex. With the digest of a secret its holder can be checked, without storing the secret. */
export function secretDigest(secret: string): string {
  return createHash('sha512').update(secret).digest('hex')
}
