import type { JsonReadOptions, JsonWriteOptions } from '@bufbuild/protobuf'

type JsonOptions = Partial<JsonReadOptions & JsonWriteOptions> & {
  textEncoder?: { encode(text: string): Uint8Array<ArrayBuffer> }
  textDecoder?: { decode(bytes: Uint8Array): string }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** A stream may carry an empty envelope for an empty message; an empty unary body is refused before it comes here (envd.md 6.3). */
const textDecoder = { decode: (bytes: Uint8Array) => (bytes.length === 0 ? '{}' : decoder.decode(bytes)) }

/** Zeros are present in every answer (envd.md 17). */
export const jsonOptions: JsonOptions = { alwaysEmitImplicit: true, textDecoder }

/**
 * Like `jsonOptions`, and writes the one 64-bit field there is, the `size` of an entry, as a number where a double holds it (envd.md 17).
 * In an entry `mode` follows as a number, while the values of a string map that has these keys are in quotes, so nothing else matches.
 */
export const filesystemJsonOptions: JsonOptions = {
  ...jsonOptions,
  textEncoder: { encode: (text) => encoder.encode(writeSizesAsNumbers(text)) },
}

export function writeSizesAsNumbers(json: string): string {
  return json.replaceAll(/"size":"(\d+)"(?=,"mode":\d)/g, (text, size: string) =>
    Number.isSafeInteger(Number(size)) ? `"size":${size}` : text,
  )
}
