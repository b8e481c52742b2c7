export interface Capped {
  readonly bytes: Buffer
  /** The stream has more. */
  readonly isCut: boolean
}

/** Reads a stream up to a number of bytes. The caller destroys it. */
export async function readCapped(stream: AsyncIterable<Buffer>, maxBytes: number): Promise<Capped> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of stream) {
    const room = maxBytes - length
    chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk)
    length += chunk.length
    if (length > maxBytes) return { bytes: Buffer.concat(chunks), isCut: true }
  }
  return { bytes: Buffer.concat(chunks), isCut: false }
}
