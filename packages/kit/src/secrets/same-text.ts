import { createHash, timingSafeEqual } from 'node:crypto'

/** Compares two texts in a time that depends on neither their content nor the length of the secret. */
export function isSameText(presented: string, secret: string): boolean {
  return timingSafeEqual(digest(presented), digest(secret))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
