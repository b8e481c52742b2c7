/**
 * A gzip reader (RFC 1952). Node's drops all output of a chunk that contains an error, and so loses a short body with trailing garbage.
 * This one outputs each member before it reads the next.
 */
import { crc32, createInflateRaw, type InflateRaw } from 'node:zlib'
import { errnoCode } from '../sys/errno-text.ts'
import { releaseBytes } from '@sandyard/kit/net/release-bytes'
import { toLastByte } from './to-last-byte.ts'

/** The fixed part of a member's header. */
export const GZIP_HEADER_BYTES = 10
const GZIP_DEFLATE = Buffer.of(0x1f, 0x8b, 0x08)
const FLAGS_AT = 3
const FLAG = { headerChecksum: 2, extra: 4, name: 8, comment: 16 } as const
const TRAILER_BYTES = 8

/** The body is not a complete gzip stream. The message is for the client. */
export class UndecodableBody extends Error {
  override readonly name = 'UndecodableBody'
}

export function isGzipHeader(head: Buffer): boolean {
  return head.subarray(0, GZIP_DEFLATE.length).equals(GZIP_DEFLATE)
}

/** @throws UndecodableBody; whatever `rest` throws */
export async function* gunzip(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  const source = new CompressedSource(head, rest)
  while (await readHeader(source)) {
    let checksum = 0
    let size = 0
    for await (const chunk of inflate(source)) {
      checksum = crc32(chunk, checksum)
      size = (size + chunk.length) >>> 0
      yield chunk
    }
    const trailer = await source.take(TRAILER_BYTES)
    if (trailer.readUInt32LE(0) !== checksum || trailer.readUInt32LE(4) !== size) throw new UndecodableBody('gzip: invalid checksum')
  }
}

class CompressedSource {
  readonly #rest: AsyncIterator<Buffer>
  #pending: Buffer

  constructor(head: Buffer, rest: AsyncIterator<Buffer>) {
    this.#pending = head
    this.#rest = rest
  }

  /** The next bytes, never empty; undefined at the end. */
  async next(): Promise<Buffer | undefined> {
    const pending = this.#pending
    this.#pending = Buffer.alloc(0)
    if (pending.length > 0) return pending
    const next = await this.#rest.next()
    return next.done === true ? undefined : next.value
  }

  /** Puts bytes back in front. */
  unread(bytes: Buffer): void {
    this.#pending = Buffer.concat([bytes, this.#pending])
  }

  async take(count: number): Promise<Buffer> {
    let taken = Buffer.alloc(0)
    while (taken.length < count) {
      const chunk = await this.next()
      if (chunk === undefined) throw new UndecodableBody('unexpected EOF')
      taken = Buffer.concat([taken, chunk])
    }
    this.unread(taken.subarray(count))
    return taken.subarray(0, count)
  }
}

/** Advances to the data of the next member; false at the end. */
async function readHeader(source: CompressedSource): Promise<boolean> {
  const first = await source.next()
  if (first === undefined) return false
  source.unread(first)
  const head = await source.take(GZIP_HEADER_BYTES)
  if (!isGzipHeader(head)) throw new UndecodableBody('gzip: invalid header')
  const flags = head.readUInt8(FLAGS_AT)
  if ((flags & FLAG.extra) !== 0) await source.take((await source.take(2)).readUInt16LE())
  for (const text of [FLAG.name, FLAG.comment]) {
    if ((flags & text) !== 0) while ((await source.take(1)).readUInt8() !== 0);
  }
  if ((flags & FLAG.headerChecksum) !== 0) await source.take(2)
  return true
}

/** The data of one member. Leaves `source` behind it. */
async function* inflate(source: CompressedSource): AsyncGenerator<Buffer> {
  const decoder = createInflateRaw()
  const feeding = feed(decoder, source)
  try {
    yield* toLastByte(decoder)
  } catch (error) {
    if (!errnoCode(error).startsWith('Z_')) throw error
    const isCut = error instanceof Error && error.message === 'unexpected end of file'
    throw new UndecodableBody(isCut ? 'unexpected EOF' : 'flate: corrupt input', { cause: error })
  } finally {
    decoder.destroy()
  }
  const failure = await feeding
  if (failure !== undefined) throw failure
}

/** Feeds the decoder; resolves to the error of the source, if any. The decoder is ended in both cases, so that it outputs everything. */
async function feed(decoder: InflateRaw, source: CompressedSource): Promise<unknown> {
  try {
    for (let chunk = await source.next(); chunk !== undefined; chunk = await source.next()) {
      const before = decoder.bytesWritten
      const { length } = chunk
      await new Promise<void>((resolve) => decoder.write(chunk, () => resolve()))
      const used = decoder.bytesWritten - before
      if (used < length) {
        source.unread(chunk.subarray(used))
        return undefined
      }
      releaseBytes(chunk)
    }
    decoder.end()
    return undefined
  } catch (error) {
    decoder.end()
    return error
  }
}
