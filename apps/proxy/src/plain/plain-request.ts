import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { ChunkedParser } from '../message/chunked-parser.ts'
import type { DownstreamRequest } from '../message/downstream-message.ts'
import type { PlainHead } from './parse-plain-head.ts'

/** A plain request. Its body is read at the pace of its reader: while nobody reads, at most two reads of it wait. */
export class PlainRequest implements DownstreamRequest {
  readonly method: string
  readonly url: string
  readonly httpVersion = '1.1'
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly keepsAlive: boolean
  rawTrailers: readonly string[] = []
  readonly socket: Socket
  /** Bytes of a body with a length that have not arrived. */
  #left: number
  /** Reads a body in chunks. */
  readonly #chunks: ChunkedParser | undefined
  #arrived: Buffer[] = []
  #isPaused = true
  #hasBegun = false
  #onData: ((bytes: Buffer) => void) | undefined
  #onEnd: (() => void) | undefined

  constructor({ method, url, headers, rawHeaders, contentLength, keepsAlive }: PlainHead, socket: Socket) {
    this.method = method
    this.url = url
    this.headers = headers
    this.rawHeaders = rawHeaders
    this.keepsAlive = keepsAlive
    this.#left = contentLength === 'chunked' ? 0 : contentLength
    const onBody = (bytes: Buffer): void => this.#receive(bytes)
    const onComplete = (trailers: readonly string[]): void => void (this.rawTrailers = trailers)
    this.#chunks = contentLength === 'chunked' ? new ChunkedParser({ onBody, onComplete }) : undefined
    this.socket = socket
  }

  get complete(): boolean {
    return this.#chunks?.isDone ?? this.#left === 0
  }

  get readableLength(): number {
    let sum = 0
    for (const bytes of this.#arrived) sum += bytes.length
    return sum
  }

  /**
   * Takes bytes of the connection. Returns those behind the body.
   *
   * @throws ChunkError
   */
  push(bytes: Buffer): Buffer {
    if (this.complete) return bytes
    const rest = bytes.subarray(this.#chunks?.push(bytes, 0) ?? this.#pushLength(bytes))
    // What comes next belongs to the connection, even when the body's reader has paused.
    if (this.complete) this.socket.resume()
    if (this.complete && !this.#isPaused) this.#end()
    // The first read is that of the head.
    else if (!this.complete && this.#arrived.length > 0 && this.#hasBegun) this.socket.pause()
    this.#hasBegun = true
    return rest
  }

  read(): Buffer | null {
    const [first, ...others] = this.#arrived
    if (first === undefined) return null
    this.#arrived = []
    return others.length === 0 ? first : Buffer.concat([first, ...others])
  }

  pause(): void {
    this.#isPaused = true
    if (!this.complete) this.socket.pause()
  }

  resume(): void {
    this.#isPaused = false
    const waiting = this.read()
    if (waiting !== null) this.#onData?.(waiting)
    // The reader may have paused it again.
    if (this.#isPaused) return
    if (this.complete) this.#end()
    else this.socket.resume()
  }

  on(event: 'data', listener: (bytes: Buffer) => void): void {
    this.#onData = listener
    if (event === 'data') this.resume()
  }

  once(_: 'end', listener: () => void): void {
    this.#onEnd = listener
  }

  off(event: 'data' | 'end', _: unknown): void {
    if (event === 'data') this.#onData = undefined
    else this.#onEnd = undefined
  }

  #pushLength(bytes: Buffer): number {
    const own = bytes.length <= this.#left ? bytes : bytes.subarray(0, this.#left)
    this.#left -= own.length
    if (own.length > 0) this.#receive(own)
    return own.length
  }

  #receive(bytes: Buffer): void {
    if (this.#isPaused) this.#arrived.push(bytes)
    else this.#onData?.(bytes)
  }

  #end(): void {
    const onEnd = this.#onEnd
    this.#onEnd = undefined
    onEnd?.()
  }
}
