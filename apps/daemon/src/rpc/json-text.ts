import type { DescMethod, JsonReadOptions, JsonWriteOptions } from '@bufbuild/protobuf'
import { takeEncoded } from './encoded-json.ts'
import { isTooDeep, MAX_DEPTH } from './json-depth.ts'

/** The library's options for JSON; its serialization also takes the two codecs of text, which its type of options does not name. */
type JsonOptions = Partial<JsonReadOptions & JsonWriteOptions> & {
  readonly textDecoder: { decode(bytes: Uint8Array): string }
  readonly textEncoder: { encode(json: string): Uint8Array }
}

/** Fatal, because a lenient decoder would turn an invalid name into the name of another file. A byte order mark is invalid in JSON. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const EMPTY_MESSAGE = '{}'

/** Proto3's JSON mapping (envd.md 6.2), with zeros and with sizes as numbers (envd.md 17). */
export function jsonOptions({ methodKind, parent }: DescMethod): JsonOptions {
  // In a stream zero bytes are an empty message in both codecs (envd.md 6.3).
  const takesNothing = methodKind !== 'unary'
  const hasSizes = parent.typeName === 'filesystem.Filesystem'
  return {
    alwaysEmitImplicit: true,
    textDecoder: { decode: (bytes) => (takesNothing && bytes.length === 0 ? EMPTY_MESSAGE : decode(bytes)) },
    textEncoder: { encode: (json) => (hasSizes ? (takeEncoded(json) ?? Buffer.from(writeSizesAsNumbers(json))) : Buffer.from(json)) },
  }
}

function decode(bytes: Uint8Array): string {
  if (isTooDeep(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))) throw new Error(`nested deeper than ${MAX_DEPTH} levels`)
  return utf8.decode(bytes)
}

/**
 * Writes the only 64-bit field, the `size` of an entry, as a number if a double can represent it (envd.md 17).
 * In an entry `mode` follows as a number, while the values of a string map that has these keys are in quotes, so nothing else matches.
 */
function writeSizesAsNumbers(json: string): string {
  return json.replaceAll(/"size":"(\d+)"(?=,"mode":\d)/g, (text, size: string) =>
    Number.isSafeInteger(Number(size)) ? `"size":${size}` : text,
  )
}
