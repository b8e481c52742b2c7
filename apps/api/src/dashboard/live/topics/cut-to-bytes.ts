/** The first items whose JSON is together at most `maxBytes`; at least one. */
export function cutToBytes<T>(items: readonly T[], maxBytes: number): T[] {
  let bytes = 0
  const past = items.findIndex((item, index) => {
    bytes += Buffer.byteLength(JSON.stringify(item))
    return bytes > maxBytes && index > 0
  })
  return items.slice(0, past === -1 ? undefined : past)
}
