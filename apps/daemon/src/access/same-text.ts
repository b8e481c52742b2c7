import { createHash, timingSafeEqual } from 'node:crypto'

/** Whether two texts are equal, in a time that says neither where they differ nor how long the secret one is. */
export function isSameText(presented: string, secret: string): boolean {
  return timingSafeEqual(digest(presented), digest(secret))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
