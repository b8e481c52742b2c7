/** Upstream's limit. Deeper JSON could exhaust the sandbox's memory quickly. */
export const MAX_DEPTH = 10_000

const [QUOTE, BACKSLASH] = [0x22, 0x5c]
const OPENING = new Set([0x5b, 0x7b])
const CLOSING = new Set([0x5d, 0x7d])

/** Whether a JSON text is nested too deeply. The result is undefined for invalid JSON. */
export function isTooDeep(bytes: Buffer): boolean {
  if (bytes.length <= MAX_DEPTH) return false
  let depth = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (OPENING.has(byte) && ++depth > MAX_DEPTH) return true
    else if (CLOSING.has(byte)) depth--
  }
  return false
}

/** The index of the closing quote of a string. Fast for long strings without a backslash, which are usually base64. */
function endOfString(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(QUOTE, start + 1); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let backslashes = 0
    while (bytes[end - 1 - backslashes] === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return end
  }
  return bytes.length
}
