import type { Socket } from 'node:net'
import { SMALL_BYTES, writeAndRelease } from '@sandyard/kit/net/relay-bytes'
import type { DownstreamRequest } from '../message/downstream-message.ts'
import { formatHeaders, isChunked } from '../message/head.ts'

/** Sends a client's request to a sandbox, at the pace of the sandbox. */
export class RequestSender {
  readonly #req: DownstreamRequest
  readonly #socket: Socket
  readonly #isChunked: boolean
  #isSent = false

  constructor(req: DownstreamRequest, socket: Socket) {
    this.#req = req
    this.#socket = socket
    this.#isChunked = isChunked(req)
  }

  /** The whole request was written. */
  get isSent(): boolean {
    return this.#isSent
  }

  /**
   * Sends the head at once, and the body as it arrives.
   *
   * @param head with its empty line
   */
  send(head: string, hasBody: boolean): void {
    if (!hasBody) {
      this.#socket.write(head, 'latin1')
      this.#isSent = true
      return
    }
    const req = this.#req
    // What has arrived of the body is sent in one piece with the head.
    const begun = req.read() as Buffer | null
    const isWhole = req.complete && req.readableLength === 0
    if (isWhole && (begun === null || begun.length < SMALL_BYTES)) return this.#sendWhole(head, begun?.toString('latin1') ?? '')
    this.#socket.cork()
    if (begun === null) this.#socket.write(head, 'latin1')
    else {
      this.#socket.write(head, 'latin1')
      this.#write(begun)
    }
    if (isWhole) this.#end()
    this.#socket.uncork()
    if (this.#isSent) return
    req.on('data', this.#onData)
    req.once('end', this.#end)
    this.#waitForRoom()
  }

  /** The connection to the sandbox has room again. */
  resume(): void {
    if (!this.#isSent) this.#req.resume()
  }

  /** Reads and drops the rest of the body, so that the client can send its next request. */
  abandon(): void {
    if (this.#isSent) return
    this.#isSent = true
    this.#req.off('data', this.#onData)
    this.#req.off('end', this.#end)
    this.#req.resume()
  }

  #sendWhole(head: string, body: string): void {
    const framed = this.#isChunked && body !== '' ? `${body.length.toString(16)}\r\n${body}\r\n` : body
    const end = this.#isChunked ? `0\r\n${formatHeaders(this.#req.rawTrailers)}\r\n` : ''
    this.#socket.write(head + framed + end, 'latin1')
    this.#isSent = true
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#write(bytes)
    this.#waitForRoom()
  }

  readonly #end = (): void => {
    if (this.#isChunked) this.#socket.write(`0\r\n${formatHeaders(this.#req.rawTrailers)}\r\n`, 'latin1')
    this.#isSent = true
  }

  #write(bytes: Buffer): void {
    if (!this.#isChunked) return void writeAndRelease(this.#socket, bytes)
    this.#socket.cork()
    this.#socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1')
    writeAndRelease(this.#socket, bytes)
    this.#socket.write('\r\n', 'latin1')
    this.#socket.uncork()
  }

  #waitForRoom(): void {
    if (this.#socket.writableNeedDrain) this.#req.pause()
  }
}
