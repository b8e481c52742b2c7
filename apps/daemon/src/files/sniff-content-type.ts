/** How many bytes are inspected (WHATWG MIME Sniffing in upstream's variant; envd.md 5.6). */
export const SNIFFED_BYTES = 512

/** A text (latin1, a character for each byte) at an offset. */
type Mark = readonly [offset: number, text: string]

/** The texts that stand in a type's files. */
type Signature = readonly [type: string, first: Mark, second?: Mark]

/** A tag counts only when it is complete: followed by a space or its end. */
const HTML = /^[\t\n\f\r ]*<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|!--)[ >]/i
const XML = /^[\t\n\f\r ]*<\?xml/

const SIGNATURES: readonly Signature[] = [
  ['application/pdf', [0, '%PDF-']],
  ['application/postscript', [0, '%!PS-Adobe-']],
  ['text/plain; charset=utf-16be', [0, '\xfe\xff']],
  ['text/plain; charset=utf-16le', [0, '\xff\xfe']],
  ['text/plain; charset=utf-8', [0, '\xef\xbb\xbf']],
  ['image/x-icon', [0, '\0\0\x01\0']],
  ['image/x-icon', [0, '\0\0\x02\0']],
  ['image/bmp', [0, 'BM']],
  ['image/gif', [0, 'GIF87a']],
  ['image/gif', [0, 'GIF89a']],
  ['image/webp', [0, 'RIFF'], [8, 'WEBPVP']],
  ['image/png', [0, '\x89PNG\r\n\x1a\n']],
  ['image/jpeg', [0, '\xff\xd8\xff']],
  ['audio/aiff', [0, 'FORM'], [8, 'AIFF']],
  ['audio/mpeg', [0, 'ID3']],
  ['application/ogg', [0, 'OggS\0']],
  ['audio/midi', [0, 'MThd\0\0\0\x06']],
  ['video/avi', [0, 'RIFF'], [8, 'AVI ']],
  ['audio/wave', [0, 'RIFF'], [8, 'WAVE']],
  ['video/webm', [0, '\x1a\x45\xdf\xa3']],
  ['application/vnd.ms-fontobject', [34, 'LP']],
  ['font/ttf', [0, '\0\x01\0\0']],
  ['font/otf', [0, 'OTTO']],
  ['font/collection', [0, 'ttcf']],
  ['font/woff', [0, 'wOFF']],
  ['font/woff2', [0, 'wOF2']],
  ['application/x-gzip', [0, '\x1f\x8b\x08']],
  ['application/zip', [0, 'PK\x03\x04']],
  ['application/x-rar-compressed', [0, 'Rar!\x1a\x07\0']],
  ['application/x-rar-compressed', [0, 'Rar!\x1a\x07\x01\0']],
  ['application/wasm', [0, '\0asm']],
]

/** Control characters except those that text may contain: tab, line feed, form feed, carriage return and escape. */
// oxlint-disable-next-line no-control-regex -- these characters are what it looks for
const BINARY = /[^\t\n\f\r\x1b\x20-\xff]/

/** The media type that the first bytes of a file indicate; text by default. */
export function sniffContentType(start: Buffer): string {
  const bytes = start.subarray(0, SNIFFED_BYTES)
  const text = bytes.toString('latin1')
  if (HTML.test(text)) return 'text/html; charset=utf-8'
  if (XML.test(text)) return 'text/xml; charset=utf-8'
  for (const [type, first, second] of SIGNATURES) {
    if (!text.startsWith(first[1], first[0])) continue
    if (second === undefined || text.startsWith(second[1], second[0])) return type
  }
  if (isMp4(bytes)) return 'video/mp4'
  return BINARY.test(text) ? 'application/octet-stream' : 'text/plain; charset=utf-8'
}

/** An `ftyp` box with a brand that begins with `mp4`; skips the minor version between the brands. */
function isMp4(start: Buffer): boolean {
  if (start.length < 12 || start.toString('latin1', 4, 8) !== 'ftyp') return false
  const boxBytes = start.readUInt32BE(0)
  if (boxBytes % 4 !== 0 || start.length < boxBytes) return false
  for (let at = 8; at < boxBytes; at += 4) {
    if (at !== 12 && start.toString('latin1', at, at + 3) === 'mp4') return true
  }
  return false
}
