import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { SMALL_BYTES } from '@sandyard/kit/net/relay-bytes'
import type { DownstreamResponse } from '../message/downstream-message.ts'
import { formatHeaders, isWithoutBody } from '../message/head.ts'

type ResponseEvent = 'finish' | 'close' | 'drain'

export interface PlainResponseOptions {
  /** Told to the client in `Keep-Alive`. */
  readonly idleTimeoutMs: number
  /** Called once, before the listeners of `finish`. */
  readonly onFinish: () => void
}

/** The answer to a plain request. Its bytes are those that Node's HTTP server would send. */
export class PlainResponse implements DownstreamResponse {
  readonly #socket: Socket
  readonly #options: PlainResponseOptions
  readonly #listeners: Record<'finish' | 'close', Set<() => void>> = { finish: new Set(), close: new Set() }
  sendDate = true
  shouldKeepAlive = true
  statusCode = 200
  headersSent = false
  writableFinished = false
  /** The head, until it leaves with the first bytes of the body. */
  #head = ''
  #isChunked = false
  #trailers: string[] = []

  constructor(socket: Socket, options: PlainResponseOptions) {
    this.#socket = socket
    this.#options = options
  }

  get socket(): Socket | null {
    return this.destroyed ? null : this.#socket
  }

  get destroyed(): boolean {
    return this.#socket.destroyed
  }

  get bodySocket(): Socket | undefined {
    const isReady = this.headersSent && this.#head === '' && !this.#isChunked && !isWithoutBody(this.statusCode)
    return isReady && this.#socket.writable ? this.#socket : undefined
  }

  writeHead(status: number, reasonOrHeaders: string | readonly string[], withReason: readonly string[] = []): this {
    const [reason, headers] = typeof reasonOrHeaders === 'string' ? [reasonOrHeaders, withReason] : [STATUS_CODES[status], reasonOrHeaders]
    let hasLength = false
    let hasConnection = false
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i] ?? ''
      if (name.length === 14 && name.toLowerCase() === 'content-length') hasLength = true
      if (name.length !== 10 || name.toLowerCase() !== 'connection') continue
      hasConnection = true
      this.shouldKeepAlive = headers[i + 1] !== 'close'
    }
    let head = `HTTP/1.1 ${status} ${reason ?? ''}\r\n${formatHeaders(headers)}`
    if (this.sendDate) head += `Date: ${new Date().toUTCString()}\r\n`
    if (this.shouldKeepAlive) head += `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(this.#options.idleTimeoutMs / 1000)}\r\n`
    else if (!hasConnection) head += 'Connection: close\r\n'
    // Not before the headers are known to be valid.
    this.statusCode = status
    this.headersSent = true
    this.#isChunked = !hasLength && !isWithoutBody(status)
    this.#head = this.#isChunked ? `${head}Transfer-Encoding: chunked\r\n\r\n` : `${head}\r\n`
    return this
  }

  /** A plain request does not wait for it. */
  writeContinue(): void {
    throw new Error('the request does not wait for 100 Continue')
  }

  flushHeaders(): void {
    const head = this.#takeHead()
    if (head !== '') this.#socket.write(head, 'latin1')
  }

  write(bytes: Buffer, written?: (err?: Error | null) => void): boolean {
    if (isWithoutBody(this.statusCode)) return true
    const head = this.#takeHead()
    const before = this.#isChunked ? `${head}${bytes.length.toString(16)}\r\n` : head
    const after = this.#isChunked ? '\r\n' : ''
    if (bytes.length < SMALL_BYTES && written === undefined) {
      return this.#socket.write(before + bytes.toString('latin1') + after, 'latin1')
    }
    this.#socket.cork()
    if (before !== '') this.#socket.write(before, 'latin1')
    const mayGoOn = this.#socket.write(bytes, written)
    const mayGoOnAfter = after === '' ? mayGoOn : this.#socket.write(after, 'latin1')
    this.#socket.uncork()
    return mayGoOnAfter && !this.#socket.writableNeedDrain
  }

  addTrailers(trailers: readonly [string, string][]): void {
    this.#trailers = trailers.flat()
  }

  /** @param text of the last bytes, one character for each byte, or text of ours with another encoding */
  end(text = '', encoding: BufferEncoding = 'utf8'): this {
    const bytes = encoding === 'latin1' || text === '' ? text : Buffer.from(text, encoding).toString('latin1')
    let last = this.#takeHead()
    if (bytes !== '' && !isWithoutBody(this.statusCode)) {
      last += this.#isChunked ? `${bytes.length.toString(16)}\r\n${bytes}\r\n` : bytes
    }
    if (this.#isChunked) last += `0\r\n${formatHeaders(this.#trailers)}\r\n`
    if (last !== '') this.#socket.write(last, 'latin1')
    if (this.#socket.writableLength === 0) this.#finish()
    else this.#socket.write('', () => this.#finish())
    return this
  }

  destroy(): void {
    this.#socket.destroy()
  }

  once(event: ResponseEvent, listener: () => void): void {
    if (event === 'drain') this.#socket.once('drain', listener)
    else this.#listeners[event].add(listener)
  }

  off(event: ResponseEvent, listener: () => void): void {
    if (event === 'drain') this.#socket.off('drain', listener)
    else this.#listeners[event].delete(listener)
  }

  /** The connection has closed. */
  close(): void {
    this.#call('close')
  }

  #takeHead(): string {
    const head = this.#head
    this.#head = ''
    return head
  }

  #finish(): void {
    if (this.writableFinished || this.destroyed) return
    this.writableFinished = true
    this.#options.onFinish()
    this.#call('finish')
  }

  #call(event: 'finish' | 'close'): void {
    const listeners = [...this.#listeners[event]]
    this.#listeners[event].clear()
    for (const listener of listeners) listener()
  }
}
