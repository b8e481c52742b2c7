import { AppError } from '@sandyard/kit/errors/app-error'
import type { IncomingMessage } from 'node:http'
import { keepCutBody } from '../http/client-error.ts'
import { takeReceivedBody } from '../http/received-body.ts'
import { firstHeader } from '../http/request-header.ts'
import { GZIP_HEADER_BYTES, gunzip, isGzipHeader } from './gunzip.ts'
import { toLastByte } from './to-last-byte.ts'

/** The client ended the request before its body was whole. The message is for the client. */
export class CutBody extends Error {
  override readonly name = 'CutBody'

  constructor() {
    super('unexpected EOF')
  }
}

/**
 * The body of an upload. Disposing of it discards the rest of the request, so that a client that is still sending gets the answer and
 * the connection stays usable.
 *
 * A client may pause for as long as its connection lives: programs stream what they have not made yet, and a paused upload costs a
 * descriptor and next to no memory.
 */
export class RequestBody implements Disposable {
  readonly #request: IncomingMessage
  readonly #received: AsyncGenerator<Buffer>

  constructor(request: IncomingMessage) {
    this.#request = request
    this.#received = receive(request)
  }

  /**
   * The bytes, decoded as the request's `Content-Encoding` says (envd.md 5.7). They fail where the client breaks off, as CutBody
   * where it still waits for an answer, and as UndecodableBody where they are no gzip after all; what arrived before comes first.
   *
   * @throws AppError `invalid_argument` for another coding than gzip, and for what does not begin as gzip does
   */
  async decoded(): Promise<AsyncIterable<Buffer>> {
    const header = firstHeader(this.#request, 'content-encoding')
    if (isIdentity(header)) return this.#received
    if (codingOf(header) !== 'gzip') throw undecodable(`unsupported Content-Encoding: ${header}, supported: [gzip]`)
    return gunzip(await takeGzipHeader(this.#received), this.#received)
  }

  /**
   * The whole body, if it is small, not encoded and has arrived with the head of the request, so that nothing has to wait for it. Call it at
   * most once, and instead of reading what {@link decoded} returns.
   */
  async takeWhole(): Promise<Buffer | undefined> {
    if (!isIdentity(firstHeader(this.#request, 'content-encoding'))) return undefined
    return takeReceivedBody(this.#request, keepCutBody(this.#request))
  }

  [Symbol.dispose](): void {
    const resume = (): void => void this.#request.resume()
    // A decoder that failed may be waiting for bytes that an idle client never sends.
    this.#received.return(undefined).then(resume, resume)
  }
}

function isIdentity(header: string): boolean {
  return header === '' || codingOf(header) === 'identity'
}

function codingOf(header: string): string | undefined {
  return header.split(';', 1)[0]?.trim().toLowerCase()
}

async function* receive(request: IncomingMessage): AsyncGenerator<Buffer> {
  const kept = keepCutBody(request)
  yield* toLastByte(request)
  if (kept.isCut) throw new CutBody()
}

function endWhereCut(error: unknown): IteratorReturnResult<undefined> {
  if (error instanceof CutBody) return { done: true, value: undefined }
  throw error
}

/** Reads enough to detect a gzip header. */
async function takeGzipHeader(received: AsyncIterator<Buffer>): Promise<Buffer> {
  let head = Buffer.alloc(0)
  while (head.length < GZIP_HEADER_BYTES) {
    const next = await received.next().catch(endWhereCut)
    if (next.done === true) throw undecodable(`failed to create gzip reader: ${head.length === 0 ? 'EOF' : 'unexpected EOF'}`)
    head = Buffer.concat([head, next.value])
  }
  if (!isGzipHeader(head)) throw undecodable('failed to create gzip reader: gzip: invalid header')
  return head
}

function undecodable(reason: string): AppError {
  return new AppError('invalid_argument', `error decompressing request body: ${reason}`)
}
