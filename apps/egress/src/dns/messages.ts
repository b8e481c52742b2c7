import type { Socket } from 'node:net'

/**
 * The messages of a DNS connection, each after its length in two bytes (RFC 1035 4.2.2).
 *
 * @throws RangeError for a message of more than `maxBytes`
 */
export async function* readMessages(socket: Socket, maxBytes: number): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk as Buffer])
    while (rest.length >= 2) {
      const length = rest.readUInt16BE(0)
      if (length > maxBytes) throw new RangeError(`a message of ${length} bytes`)
      if (rest.length < 2 + length) break
      yield rest.subarray(2, 2 + length)
      rest = rest.subarray(2 + length)
    }
  }
}

/** With its length before it. */
export function toMessage(bytes: Buffer): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(bytes.length)
  return Buffer.concat([length, bytes])
}
