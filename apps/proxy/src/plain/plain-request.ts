import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { ClientRequest } from '../message/client-message.ts'
import type { PlainHead } from './parse-plain-head.ts'

/** A plain request. Its body is read at the pace of its reader: while nobody reads, at most two reads of it wait. */
export class PlainRequest implements ClientRequest {
  readonly method: string
  readonly url: string
  readonly httpVersion = '1.1'
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly rawTrailers: readonly string[] = []
  readonly socket: Socket
  /** Bytes of the body that have not arrived. */
  #left: number
  #arrived: Buffer[] = []
  #isPaused = true
  #onData: ((bytes: Buffer) => void) | undefined
  #onEnd: (() => void) | undefined

  constructor({ method, url, headers, rawHeaders, contentLength }: PlainHead, socket: Socket) {
    this.method = method
    this.url = url
    this.headers = headers
    this.rawHeaders = rawHeaders
    this.#left = contentLength
    this.socket = socket
  }

  get complete(): boolean {
    return this.#left === 0
  }

  get readableLength(): number {
    let sum = 0
    for (const bytes of this.#arrived) sum += bytes.length
    return sum
  }

  /** Takes bytes of the connection. Returns those behind the body. */
  push(bytes: Buffer): Buffer {
    const own = bytes.length <= this.#left ? bytes : bytes.subarray(0, this.#left)
    if (own.length > 0) {
      this.#left -= own.length
      if (this.#isPaused) this.#hold(own)
      else this.#onData?.(own)
      if (this.complete && !this.#isPaused) this.#end()
    }
    return bytes.subarray(own.length)
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

  #hold(bytes: Buffer): void {
    this.#arrived.push(bytes)
    // The first read is that of the head.
    if (!this.complete && this.#arrived.length > 1) this.socket.pause()
  }

  #end(): void {
    const onEnd = this.#onEnd
    this.#onEnd = undefined
    onEnd?.()
  }
}
