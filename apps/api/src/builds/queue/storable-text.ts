/** Longer messages are truncated. */
const MAX_MESSAGE_BYTES = 64 * 1024

/**
 * Makes a text that Postgres can store and JSON can carry: without NUL, with U+FFFD for unpaired surrogates, and at most
 * `MAX_MESSAGE_BYTES` in UTF-8.
 */
export function storableText(text: string): string {
  // Every UTF-16 unit is at least one byte: the rest cannot fit.
  const whole = text
    .slice(0, MAX_MESSAGE_BYTES + 1)
    .replaceAll('\0', '\uFFFD')
    .toWellFormed()
  const bytes = Buffer.from(whole)
  if (bytes.length <= MAX_MESSAGE_BYTES) return whole
  let end = MAX_MESSAGE_BYTES
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}
