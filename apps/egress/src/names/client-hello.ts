import { toServerName } from './server-name.ts'

/** The beginning of a connection to a TLS port. */
export type ClientHello =
  /** So many bytes are needed, from the first one on. */
  | { readonly kind: 'incomplete'; readonly needed: number }
  /** The client does not speak TLS. */
  | { readonly kind: 'other' }
  /** It begins like TLS, but no server would accept it. */
  | { readonly kind: 'malformed' }
  /** `name` is undefined when the client names no server. */
  | { readonly kind: 'hello'; readonly name: string | undefined }

const HANDSHAKE_RECORD = 22
const CLIENT_HELLO = 1
const SERVER_NAME_EXTENSION = 0
const HOST_NAME = 0
/** RFC 8446 5.1, and the margin that RFC 5246 allows. */
const MAX_RECORD = 16_384 + 2048
/** The largest ClientHello that is read. */
export const MAX_HELLO_BYTES = 64 * 1024

/** Records that one ClientHello may have. Clients use one or two. */
const MAX_RECORDS = 64
const RECORD_HEADER = 5

/** Reads the server name of a ClientHello (RFC 8446 4.1.2, RFC 6066 3), which may be split over several records. */
export function parseClientHello(bytes: Buffer): ClientHello {
  const records = joinRecords(bytes)
  if (records.kind !== 'bytes') return records
  const { handshake, next } = records
  const unfinished: ClientHello = next === undefined ? { kind: 'malformed' } : { kind: 'incomplete', needed: next }
  if (handshake.length < 4) return unfinished
  if (handshake[0] !== CLIENT_HELLO) return { kind: 'malformed' }
  const length = handshake.readUIntBE(1, 3)
  if (length > MAX_HELLO_BYTES) return { kind: 'malformed' }
  if (handshake.length < 4 + length) return unfinished
  try {
    return readHello(new Reader(handshake.subarray(4, 4 + length)))
  } catch {
    return { kind: 'malformed' }
  }
}

type Records =
  | {
      readonly kind: 'bytes'
      readonly handshake: Buffer
      /** The number of bytes with the next record or its header; undefined when another kind of record follows. */
      readonly next: number | undefined
    }
  | Extract<ClientHello, { kind: 'incomplete' | 'other' | 'malformed' }>

/** The contents of the complete handshake records. */
function joinRecords(bytes: Buffer): Records {
  if (bytes.length === 0) return { kind: 'incomplete', needed: 1 }
  if (bytes[0] !== HANDSHAKE_RECORD || (bytes.length > 1 && bytes[1] !== 3)) return { kind: 'other' }
  const parts: Buffer[] = []
  let at = 0
  while (at + RECORD_HEADER <= bytes.length) {
    const length = bytes.readUInt16BE(at + 3)
    if (bytes[at] !== HANDSHAKE_RECORD || bytes[at + 1] !== 3 || length === 0 || length > MAX_RECORD) {
      // What follows a complete ClientHello is not read.
      return parts.length === 0 ? { kind: 'malformed' } : { kind: 'bytes', handshake: Buffer.concat(parts), next: undefined }
    }
    if (parts.length >= MAX_RECORDS) return { kind: 'malformed' }
    const end = at + RECORD_HEADER + length
    if (end > bytes.length) {
      return parts.length === 0 ? { kind: 'incomplete', needed: end } : { kind: 'bytes', handshake: Buffer.concat(parts), next: end }
    }
    parts.push(bytes.subarray(at + RECORD_HEADER, end))
    at = end
  }
  return { kind: 'bytes', handshake: Buffer.concat(parts), next: at + RECORD_HEADER }
}

function readHello(hello: Reader): ClientHello {
  hello.skip(2 + 32)
  hello.vector(1)
  hello.vector(2)
  hello.vector(1)
  if (hello.isAtEnd) return { kind: 'hello', name: undefined }
  const extensions = hello.vector(2)
  if (!hello.isAtEnd) return { kind: 'malformed' }
  let name: string | undefined
  let hasName = false
  while (!extensions.isAtEnd) {
    const type = extensions.number(2)
    const content = extensions.vector(2)
    if (type !== SERVER_NAME_EXTENSION) continue
    if (hasName) return { kind: 'malformed' }
    hasName = true
    name = readServerName(content)
    if (name === undefined) return { kind: 'malformed' }
  }
  return { kind: 'hello', name }
}

/** The one name of a `server_name` extension. */
function readServerName(extension: Reader): string | undefined {
  const list = extension.vector(2)
  if (!extension.isAtEnd || list.number(1) !== HOST_NAME) return undefined
  const text = list.vector(2).rest.toString('latin1')
  return list.isAtEnd ? toServerName(text) : undefined
}

class Reader {
  #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#bytes.length === 0
  }

  get rest(): Buffer {
    return this.#bytes
  }

  /** @throws RangeError at the end */
  skip(length: number): Buffer {
    if (length > this.#bytes.length) throw new RangeError('the message is too short')
    const taken = this.#bytes.subarray(0, length)
    this.#bytes = this.#bytes.subarray(length)
    return taken
  }

  number(size: number): number {
    return this.skip(size).readUIntBE(0, size)
  }

  /** Bytes with their length before them, in `size` bytes. */
  vector(size: number): Reader {
    return new Reader(this.skip(this.number(size)))
  }
}
