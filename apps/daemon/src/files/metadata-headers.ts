import { AppError } from '@sandyard/kit/errors/app-error'

const HEADER_PREFIX = 'x-metadata-'
/** The kernel's 255 bytes for the name of an attribute minus `user.e2b.`. */
const MAX_KEY_BYTES = 246
const MAX_TOTAL_BYTES = 4096
/** `user.e2b.`, which counts for each entry. */
const PREFIX_BYTES = 9

/**
 * The metadata that an upload's `X-Metadata-*` headers give (envd.md 5.7), by key in lower case. Of a repeated header the first one
 * counts.
 *
 * @param rawHeaders names and values in turn as Node received them, each byte one character
 * @throws AppError `invalid_argument`
 */
export function parseMetadataHeaders(rawHeaders: readonly string[]): ReadonlyMap<string, string> {
  const metadata = new Map<string, string>()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? ''
    const key = name.slice(HEADER_PREFIX.length)
    if (name.startsWith(HEADER_PREFIX) && key !== '' && !metadata.has(key)) metadata.set(key, rawHeaders[at + 1] ?? '')
  }
  let total = 0
  for (const [key, value] of metadata) {
    checkEntry(key, value)
    total += PREFIX_BYTES + key.length + value.length
  }
  if (total > MAX_TOTAL_BYTES) throw invalid(`total metadata size ${total} exceeds ${MAX_TOTAL_BYTES} bytes`)
  return metadata
}

function checkEntry(key: string, value: string): void {
  if (key.length > MAX_KEY_BYTES) throw invalid(`metadata key "${key}" exceeds ${MAX_KEY_BYTES} bytes`)
  checkPrintable('metadata key', key)
  checkPrintable(`metadata value for key "${key}"`, value)
}

function checkPrintable(what: string, text: string): void {
  const offset = text.search(/[^\x20-\x7e]/)
  if (offset < 0) return
  throw invalid(`${what} contains non-printable-ASCII byte 0x${text.charCodeAt(offset).toString(16).padStart(2, '0')} at offset ${offset}`)
}

function invalid(reason: string): AppError {
  return new AppError('invalid_argument', `invalid metadata: ${reason}`)
}
