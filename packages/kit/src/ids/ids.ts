import { randomBytes } from 'node:crypto'

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'
/** The largest multiple of 36 below 256. Bytes from here on would make the first letters more frequent. */
const UNBIASED = 252

/** `length` random characters of `[a-z0-9]` from the system's generator, all equally likely. */
export function randomId(length: number): string {
  let id = ''
  while (id.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < UNBIASED && id.length < length) id += ALPHABET[byte % ALPHABET.length]
    }
  }
  return id
}
