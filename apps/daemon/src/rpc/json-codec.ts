import type { JsonWriteOptions } from '@bufbuild/protobuf'

/** Zeros are present in every answer (envd.md 17). */
export const jsonOptions: Partial<JsonWriteOptions> = { alwaysEmitImplicit: true }

/**
 * Writes the one 64-bit field there is, the `size` of an entry, as a number where a double holds it (envd.md 17).
 * In an entry `mode` follows as a number, while the values of a string map that has these keys are in quotes, so nothing else matches.
 */
export function writeSizesAsNumbers(json: string): string {
  return json.replaceAll(/"size":"(\d+)"(?=,"mode":\d)/g, (text, size: string) =>
    Number.isSafeInteger(Number(size)) ? `"size":${size}` : text,
  )
}
