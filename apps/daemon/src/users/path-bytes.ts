/**
 * Paths of URLs and forms are bytes, and need not be UTF-8. As text, a byte that is part of no character is the lone surrogate
 * U+DC00 + byte: paths stay strings with which everything works, and no byte is lost on the way to the disk.
 */
import { isUtf8 } from 'node:buffer'

const ESCAPE = 0xdc00
const MAX_CHARACTER_BYTES = 4
/** Matches no half of a character, since those are pairs to a regular expression for Unicode. */
const ESCAPED_BYTE = /([\udc80-\udcff])/u

/** Text of any bytes; of UTF-8, the text that it is. */
export function decodePath(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString()
  let text = ''
  for (let at = 0; at < bytes.length;) {
    const character = takeCharacter(bytes, at)
    text += character?.toString() ?? String.fromCharCode(ESCAPE | bytes.readUInt8(at))
    at += character?.length ?? 1
  }
  return text
}

/** The path as a call of `node:fs` takes it. */
export function pathArgument(path: string): string | Buffer {
  if (path.isWellFormed()) return path
  const pieces = path.split(ESCAPED_BYTE)
  return Buffer.concat(pieces.map((piece, index) => (index % 2 === 0 ? Buffer.from(piece) : Buffer.of(piece.charCodeAt(0) & 0xff))))
}

function takeCharacter(bytes: Buffer, at: number): Buffer | undefined {
  for (let length = 1; length <= MAX_CHARACTER_BYTES && at + length <= bytes.length; length++) {
    const candidate = bytes.subarray(at, at + length)
    if (isUtf8(candidate)) return candidate
  }
  return undefined
}
