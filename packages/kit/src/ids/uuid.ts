/** A UUID in lower case with hyphens, as Postgres writes it. A text, because request schemas need the pattern as text. */
export const UUID_PATTERN = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'

/** The smallest UUID. No row has it. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000'

const UUID = new RegExp(UUID_PATTERN)
const COMPACT = /^[0-9a-f]{32}$/

/** Accepts UUIDs with hyphens, in either case. A comparison in the database would fail for any other text. */
export function isUuid(text: string): boolean {
  return UUID.test(text.toLowerCase())
}

/** Accepts UUIDs with or without hyphens, in either case. */
export function isUuidOrCompact(text: string): boolean {
  return isUuid(text) || COMPACT.test(text.toLowerCase())
}
