/**
 * Names on disk, in URLs and in forms are bytes, and need not be UTF-8. As text, a byte that is part of no character is the lone surrogate
 * U+DC00 + byte: paths stay ordinary strings, and no byte is lost on the way to the disk and back. The whole daemon uses this form.
 */
import { isUtf8 } from 'node:buffer'

const ESCAPE = 0xdc00
const MAX_CHARACTER_BYTES = 4
const BEYOND_ASCII = /[^\0-\x7f]/
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

/** A name as `node:fs` gives it with the encoding `latin1`, which is one character for each byte. */
export function decodeLatin1(name: string): string {
  return BEYOND_ASCII.test(name) ? decodePath(Buffer.from(name, 'latin1')) : name
}

/** The path as text for a message. Bytes that are not UTF-8 become U+FFFD, since messages can hold nothing else. */
export function toText(path: string): string {
  return path.isWellFormed() ? path : pathArgument(path).toString()
}

/** Appends a name, as it came from a directory, to the path of the directory, which stays as it is. */
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
