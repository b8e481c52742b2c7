import { pathArgument } from '../users/path-bytes.ts'

/** The token characters of RFC 9110, and braces, which upstream counts among them. */
const TOKEN = /^[!#$%&'*+\-.^_`{|}~0-9A-Za-z]+$/
/** Printable ASCII and tab, all that a quoted string may hold. */
const QUOTABLE = /^[\t\x20-\x7e]*$/
/** What percent encoding leaves as it is: of the token characters all but `*`, `'` and `%`. */
const ATTRIBUTE_BYTE = /[!#$&+\-.^_`{|}~0-9A-Za-z]/

/** `Content-Disposition` of a download: always inline, with the name in the plainest form that can hold it (envd.md 5.6). */
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
