/**
 * Names on disk, in URLs and in forms are bytes, and may be invalid UTF-8. The daemon represents them as strings: a byte that is not part of
 * a valid character becomes the lone surrogate U+DC00 + byte. So each name can be converted to its bytes again.
 */
import { isUtf8 } from 'node:buffer'

const ESCAPE = 0xdc00
const MAX_CHARACTER_BYTES = 4
const BEYOND_ASCII = /[^\0-\x7f]/
/** Matches lone surrogates only: with the flag `u` a surrogate pair is one character. */
const ESCAPED_BYTE = /([\udc80-\udcff])/u

/** Converts bytes to a string of this form. Valid UTF-8 becomes the ordinary text. */
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

/** The path as an argument for `node:fs`. */
export function pathArgument(path: string): string | Buffer {
  if (path.isWellFormed()) return path
  const pieces = path.split(ESCAPED_BYTE)
  return Buffer.concat(pieces.map((piece, index) => (index % 2 === 0 ? Buffer.from(piece) : Buffer.of(piece.charCodeAt(0) & 0xff))))
}

/** Converts a name that `node:fs` returned with the encoding `latin1`, one character for each byte. */
export function decodeLatin1(name: string): string {
  return BEYOND_ASCII.test(name) ? decodePath(Buffer.from(name, 'latin1')) : name
}

/** The path as text for a message. Bytes that are not UTF-8 become U+FFFD, because a message must be valid Unicode. */
export function toText(path: string): string {
  return path.isWellFormed() ? path : pathArgument(path).toString()
}

/** Appends the name of an entry to the path of its directory. Does not change the path of the directory otherwise. */
export function childPath(directory: string, name: string): string {
  return directory.endsWith('/') ? directory + name : `${directory}/${name}`
}

function takeCharacter(bytes: Buffer, at: number): Buffer | undefined {
  for (let length = 1; length <= MAX_CHARACTER_BYTES && at + length <= bytes.length; length++) {
    const candidate = bytes.subarray(at, at + length)
    if (isUtf8(candidate)) return candidate
  }
  return undefined
}
