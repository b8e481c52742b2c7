export interface Envelope {
  readonly flags: number
  readonly payload: Buffer
}

/** The envelope of a message in a stream (envd.md 6.3). */
export function envelope(payload: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt8(flags, 0)
  head.writeUInt32BE(payload.length, 1)
  return Buffer.concat([head, payload])
}

/** The complete envelopes of a stream, and the remaining bytes. */
export function splitEnvelopes(bytes: Buffer): { readonly envelopes: readonly Envelope[]; readonly rest: Buffer } {
  const envelopes: Envelope[] = []
  let at = 0
  while (at + 5 <= bytes.length && at + 5 + bytes.readUInt32BE(at + 1) <= bytes.length) {
    const end = at + 5 + bytes.readUInt32BE(at + 1)
    envelopes.push({ flags: bytes.readUInt8(at), payload: bytes.subarray(at + 5, end) })
    at = end
  }
  return { envelopes, rest: bytes.subarray(at) }
}
