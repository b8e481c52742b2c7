/** An object, a list or a member of one, with its share of the engine's own data. */
const MEMBER_BYTES = 64

/** About how much memory a parsed value takes, in bytes: many small values take far more than their text. */
export function valueBytes(value: unknown): number {
  let bytes = 0
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    bytes += MEMBER_BYTES
    if (typeof next === 'string') bytes += 2 * next.length
    else if (typeof next === 'object' && next !== null) {
      for (const [name, member] of Object.entries(next)) {
        bytes += 2 * name.length
        pending.push(member)
      }
    }
  }
  return bytes
}
