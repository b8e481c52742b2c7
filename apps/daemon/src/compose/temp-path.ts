import { randomUUID } from 'node:crypto'

/** As much as the name of a file may have, on nearly every file system. */
const MAX_NAME_BYTES = 255

/**
 * A name for the unfinished file, beside the destination (envd.md 5.8): `{destination}.e2b-compose.{uuid}.tmp`. Of a name that leaves
 * no room for that, as many characters go as it takes. One that is itself too long stays, and is the system's to refuse.
 */
export function createTempPath(destination: string): string {
  const suffix = `.e2b-compose.${randomUUID()}.tmp`
  const nameStart = destination.lastIndexOf('/') + 1
  const name = destination.slice(nameStart)
  const isPossible = Buffer.byteLength(name) <= MAX_NAME_BYTES
  return destination.slice(0, nameStart) + (isPossible ? cutToBytes(name, MAX_NAME_BYTES - suffix.length) : name) + suffix
}

/** The longest beginning of a text that has at most `limit` bytes and ends with a whole character. */
function cutToBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= limit) return text
  let end = limit
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}
