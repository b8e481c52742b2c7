/** Flag of the last envelope of a stream (envd.md 6.3). */
export const END_OF_STREAM = 0x02

const HEAD_BYTES = 5

/** Frames one JSON text of a stream. */
export function envelope(flags: number, json: string): Buffer<ArrayBuffer> {
  const length = Buffer.byteLength(json)
  const framed = Buffer.allocUnsafe(HEAD_BYTES + length)
  framed.writeUInt8(flags, 0)
  framed.writeUInt32BE(length, 1)
  framed.write(json, HEAD_BYTES)
  return framed
}

/** The text of a body that is exactly one uncompressed message; undefined for any other. */
export function openEnvelope(body: Buffer): string | undefined {
  if (body.length < HEAD_BYTES || body.readUInt8(0) !== 0 || body.readUInt32BE(1) !== body.length - HEAD_BYTES) return undefined
  return body.toString('utf8', HEAD_BYTES)
}
