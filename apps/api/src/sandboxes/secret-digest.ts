import { createHash } from 'node:crypto'

/** What a daemon is told of a secret that it has to know again when it is shown: SHA-512, as hex. */
export function secretDigest(secret: string): string {
  return createHash('sha512').update(secret).digest('hex')
}
