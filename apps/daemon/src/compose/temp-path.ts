import { randomUUID } from 'node:crypto'

/** The longest file name on nearly every file system. */
const MAX_NAME_BYTES = 255

/**
 * A name for the temporary file beside the destination (envd.md 5.8): `{destination}.e2b-compose.{uuid}.tmp`. A long name is shortened to
 * make room for the suffix. A name that is too long by itself is kept, so that the system refuses it.
 */
export function createTempPath(destination: string): string {
  const suffix = `.e2b-compose.${randomUUID()}.tmp`
  const nameStart = destination.lastIndexOf('/') + 1
  const name = destination.slice(nameStart)
  const isPossible = Buffer.byteLength(name) <= MAX_NAME_BYTES
  return destination.slice(0, nameStart) + (isPossible ? cutToBytes(name, MAX_NAME_BYTES - suffix.length) : name) + suffix
}

/** The longest prefix of at most `limit` bytes that ends at a character boundary. */
function cutToBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= limit) return text
  let end = limit
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}
