import { ChunkedParser } from '../message/chunked-parser.ts'
import { isWithoutBody, type HeadParts } from '../message/head.ts'
import { parseHeaders } from '../message/parse-headers.ts'
import { TextSection } from '../message/text-section.ts'
import { MAX_ANSWER_HEAD_BYTES, PartialHead } from './partial-head.ts'

/** The head of an answer, or of an interim answer. */
export interface AnswerHead extends HeadParts {
  readonly status: number
  readonly reason: string
  /** The answer says HTTP/1.0. */
  readonly isOldHttp: boolean
}

/** Receives the parts of an answer in their order. What a method throws, `push` throws. */
export interface AnswerHandler {
  onInterim(head: AnswerHead): void
  onHead(head: AnswerHead): void
  /** Some bytes of the body, without the framing. */
  onBody(bytes: Buffer): void
  /** @param trailers name, value, name, value */
  onComplete(trailers: readonly string[]): void
}

export interface AnswerParserOptions {
  readonly handler: AnswerHandler
  /** The request was a HEAD request, so its answer has no body. */
  readonly isHead: boolean
  /** Whose answer it is. */
  readonly sandboxId: string
}

const HEAD = { maxBytes: MAX_ANSWER_HEAD_BYTES, tooLarge: () => new Error('the head of the answer is too large') }

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/
const LENGTH = /^\d{1,15}$/

type State = 'head' | 'length' | 'chunks' | 'until-close' | 'done'

/**
 * Reads the answer to one request from a connection (RFC 9112). It accepts only what all parsers read in the same way: no line that ends
 * without CR, no folded header, no repeated length, no length beside chunks, no other coding than chunks.
 */
export class AnswerParser {
  readonly #handler: AnswerHandler
  readonly #isHead: boolean
  readonly #partial: PartialHead
  #state: State = 'head'
  /** The head, as far as it has arrived. Dropped when it is complete: an answer may last, and the heads of ten thousand would fill the heap. */
  #section: TextSection | undefined
  /** Bytes of the body that are still to come. */
  #left = 0
  #chunks: ChunkedParser | undefined
  #mayContinue = true

  constructor({ handler, isHead, sandboxId }: AnswerParserOptions) {
    this.#handler = handler
    this.#isHead = isHead
    this.#partial = new PartialHead(sandboxId)
  }

  /** The whole answer was read, and the connection can serve another request. */
  get mayContinue(): boolean {
    return this.#state === 'done' && this.#mayContinue
  }

  /** Bytes of a body with a length that are still to come; 0 for any other body. */
  get bytesLeft(): number {
    return this.#state === 'length' ? this.#left : 0
  }

  /** Most of the last read was the framing of tiny chunks. */
  get hasTinyChunks(): boolean {
    return this.#chunks?.hasTinyChunks === true
  }

  /**
   * Reads the next bytes. Bytes behind the answer make the connection unusable, but not the answer.
   *
   * @throws when they are not a part of an answer
   */
  push(data: Buffer): void {
    let at = 0
    while (at < data.length && this.#state !== 'done') at = this.#read(data, at)
    if (at < data.length) this.#mayContinue = false
  }

  /** The next `count` bytes of the body, fewer than `bytesLeft`, were relayed without being read. */
  skip(count: number): void {
    this.#left -= count
  }

  /** Reads the end of the connection. @throws when the answer is not complete */
  finish(): void {
    if (this.#state === 'until-close') this.#end([])
    else if (this.#state !== 'done') throw new Error('the connection closed before the end of the answer')
  }

  /** To be called when nothing more is read. Safe to repeat. */
  close(): void {
    this.#partial.end()
  }

  /** Returns the position behind the bytes that it has read. */
  #read(data: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(data, at)
      case 'chunks':
        return this.#chunks?.push(data, at) ?? data.length
      case 'length':
      case 'until-close':
        return this.#readBody(data, at)
      case 'done':
        return data.length
    }
  }

  #readHead(data: Buffer, at: number): number {
    const section = (this.#section ??= new TextSection('\r\n\r\n', HEAD))
    const end = section.take(data, at)
    if (section.isComplete) {
      this.#partial.end()
      this.#section = undefined
      this.#startAnswer(section.text)
      return end
    }
    this.#partial.add(end - at)
    return end
  }

  #readBody(data: Buffer, at: number): number {
    const end = this.#state === 'until-close' ? data.length : Math.min(data.length, at + this.#left)
    // A whole read is passed on as it is, so that its memory can be freed when it was written.
    this.#handler.onBody(at === 0 && end === data.length ? data : data.subarray(at, end))
    if (this.#state === 'until-close') return end
    this.#left -= end - at
    if (this.#left > 0) return end
    this.#end([])
    return end
  }

  #startAnswer(text: string): void {
    const lines = text.split('\r\n')
    const [, minor, status, reason = ''] = STATUS_LINE.exec(lines[0] ?? '') ?? []
    if (minor === undefined || status === undefined) throw new Error('the answer is not HTTP/1.1')
    const head: AnswerHead = { status: Number(status), reason, isOldHttp: minor === '0', ...parseHeaders(lines, 1) }
    if (head.status < 200 && head.status !== 101) {
      this.#handler.onInterim(head)
      return
    }
    this.#startBody(head)
  }

  #startBody(head: AnswerHead): void {
    const { 'transfer-encoding': coding, 'content-length': length, connection } = head.headers
    if (coding !== undefined && coding.toLowerCase() !== 'chunked') throw new Error('the answer has an unknown transfer coding')
    if (coding !== undefined && length !== undefined) throw new Error('the answer has a length and chunks')
    if (length !== undefined && !LENGTH.test(length)) throw new Error('the answer has no valid length')
    this.#mayContinue =
      !head.isOldHttp && head.status !== 101 && (connection === undefined || !/(?:^|,)\s*close\s*(?:,|$)/i.test(connection))
    this.#handler.onHead(head)
    if (this.#isHead || isWithoutBody(head.status)) this.#end([])
    else if (coding !== undefined) this.#startChunks()
    else if (length === undefined) this.#state = 'until-close'
    else {
      this.#state = 'length'
      this.#left = Number(length)
      if (this.#left === 0) this.#end([])
    }
  }

  #startChunks(): void {
    this.#state = 'chunks'
    const onBody = (bytes: Buffer): void => this.#handler.onBody(bytes)
    const onComplete = (trailers: readonly string[]): void => this.#end(trailers)
    this.#chunks = new ChunkedParser({ onBody, onComplete })
  }

  #end(trailers: readonly string[]): void {
    this.#mayContinue &&= this.#state !== 'until-close'
    this.#state = 'done'
    this.#handler.onComplete(trailers)
  }
}
