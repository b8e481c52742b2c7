import type { RequestHead } from '../message/downstream-message.ts'

/** A head up to this size is not counted: the caps of connections and requests bound them. */
export const SMALL_HEAD_BYTES = 8 * 1024
/** What a name or a value takes beside its text: its object, and its places in lists and maps. */
export const TEXT_BYTES = 64

/** What the head of a request takes in memory; 0 for a small one. */
export function countedHeadBytes({ url = '', rawHeaders }: RequestHead): number {
  let bytes = url.length + rawHeaders.length * TEXT_BYTES
  for (const text of rawHeaders) bytes += text.length
  return bytes <= SMALL_HEAD_BYTES ? 0 : bytes
}
