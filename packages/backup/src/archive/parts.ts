/**
 * The size of a part. Tar needs the size of a file before its bytes, and nobody knows it for a table or an image. So an entry is stored
 * as files of this size at most, `<entry>.part000001` and so on: only one part is in memory.
 */
export const PART_BYTES = 8 * 1024 ** 2

const PART_NAME = /^(.+)\.part(\d{6})$/

export function partName(entry: string, number: number): string {
  return `${entry}.part${String(number).padStart(6, '0')}`
}

/** Undefined for other names. */
export function parsePartName(name: string): { readonly entry: string; readonly number: number } | undefined {
  const match = PART_NAME.exec(name)
  return match?.[1] === undefined ? undefined : { entry: match[1], number: Number(match[2]) }
}

/** Collects chunks of any size into parts. The last one is smaller; an empty source has one empty part. */
export async function* toParts(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let pending: Uint8Array[] = []
  let size = 0
  let count = 0
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const piece = chunk.subarray(at, at + PART_BYTES - size)
      pending.push(piece)
      size += piece.length
      at += piece.length
      if (size < PART_BYTES) continue
      yield Buffer.concat(pending)
      pending = []
      size = 0
      count += 1
    }
  }
  if (size > 0 || count === 0) yield Buffer.concat(pending)
}
