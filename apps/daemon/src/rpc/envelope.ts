import { AppError } from '@sandyard/kit/errors/app-error'
import { MAX_MESSAGE_BYTES, tooLarge } from './message-limit.ts'

/** Flags of an envelope (envd.md 6.3). */
export const COMPRESSED = 0x01
export const END_OF_STREAM = 0x02

const HEAD_BYTES = 5

export interface Envelope {
  readonly flags: number
  readonly payload: Buffer
}

/** Frames one message of a stream. */
export function envelope(flags: number, payload: string | Buffer): Buffer<ArrayBuffer> {
  const length = Buffer.byteLength(payload)
  const framed = Buffer.allocUnsafe(HEAD_BYTES + length)
  framed.writeUInt8(flags, 0)
  framed.writeUInt32BE(length, 1)
  if (typeof payload === 'string') framed.write(payload, HEAD_BYTES)
  else payload.copy(framed, HEAD_BYTES)
  return framed
}

/** Takes a stream apart, however its bytes come. */
export class EnvelopeReader {
  #chunks: Buffer[] = []
  #length = 0
  /** How many bytes the next envelope has, as far as is known. */
  #needed = HEAD_BYTES

  /**
   * The envelopes that these bytes complete.
   *
   * @throws AppError `resource_exhausted` when one is larger than a message may be
   */
  read(bytes: Buffer): readonly Envelope[] {
    this.#chunks.push(bytes)
    this.#length += bytes.length
    if (this.#length > HEAD_BYTES + MAX_MESSAGE_BYTES) throw tooLarge()
    if (this.#length < this.#needed) return []
    const envelopes: Envelope[] = []
    let rest = Buffer.concat(this.#chunks)
    while ((this.#needed = bytesOfFirst(rest)) <= rest.length) {
      envelopes.push({ flags: rest.readUInt8(0), payload: rest.subarray(HEAD_BYTES, this.#needed) })
      rest = rest.subarray(this.#needed)
    }
    this.#chunks = [rest]
    this.#length = rest.length
    return envelopes
  }

  /** @throws AppError `invalid_argument` when the stream ends in the middle of an envelope */
  finish(): void {
    if (this.#length === 0) return
    const fault =
      this.#length < HEAD_BYTES
        ? 'incomplete envelope: unexpected EOF'
        : `promised ${this.#needed - HEAD_BYTES} bytes in enveloped message, got ${this.#length - HEAD_BYTES} bytes`
    throw new AppError('invalid_argument', `protocol error: ${fault}`)
  }
}

function bytesOfFirst(bytes: Buffer): number {
  return HEAD_BYTES + (bytes.length < HEAD_BYTES ? 0 : bytes.readUInt32BE(1))
}
