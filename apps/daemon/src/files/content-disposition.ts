import { pathArgument } from '../users/path-bytes.ts'

/** The token characters of RFC 9110 plus braces, as upstream defines them. */
const TOKEN = /^[!#$%&'*+\-.^_`{|}~0-9A-Za-z]+$/
/** The characters that a quoted string may contain: printable ASCII and tab. */
const QUOTABLE = /^[\t\x20-\x7e]*$/
/** Percent encoding keeps these: all token characters except `*`, `'` and `%`. */
const ATTRIBUTE_BYTE = /[!#$&+\-.^_`{|}~0-9A-Za-z]/

/** `Content-Disposition` of a download: always inline, with the simplest form that can represent the name (envd.md 5.6). */
export function inlineDisposition(fileName: string): string {
  if (TOKEN.test(fileName)) return `inline; filename=${fileName}`
  if (QUOTABLE.test(fileName)) return `inline; filename="${fileName.replaceAll(/["\\]/g, String.raw`\$&`)}"`
  return `inline; filename*=utf-8''${percentEncode(fileName)}`
}

function percentEncode(text: string): string {
  return Array.from(Buffer.from(pathArgument(text)), (byte) => {
    const character = String.fromCharCode(byte)
    return ATTRIBUTE_BYTE.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }).join('')
}
