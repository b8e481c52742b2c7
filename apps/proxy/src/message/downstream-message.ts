import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'

/** The head of a request of a client, in the terms of `node:http`. An `IncomingMessage` is one. */
export interface RequestHead {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly httpVersion: string
  /** Names in lower case; repeated ones are joined as Node does it. */
  readonly headers: IncomingHttpHeaders
  /** Name, value, name, value: in their order and spelling. */
  readonly rawHeaders: readonly string[]
  readonly socket: Socket
}

/** A request of a client with its body, which is read at the pace of its reader: the used part of an `IncomingMessage`. */
export interface DownstreamRequest extends RequestHead {
  /** The whole request has arrived. */
  readonly complete: boolean
  readonly rawTrailers: readonly string[]
  /** Bytes of the body that have arrived and were not read. */
  readonly readableLength: number
  /** Takes what has arrived of the body. */
  read(): unknown
  pause(): unknown
  /** Without a listener, the rest of the body is read and dropped. */
  resume(): unknown
  on(event: 'data', listener: (bytes: Buffer) => void): unknown
  once(event: 'end', listener: () => void): unknown
  off(event: 'data', listener: (bytes: Buffer) => void): unknown
  off(event: 'end', listener: () => void): unknown
}

/** The answer to a request of a client: the used part of a `ServerResponse`. */
export interface DownstreamResponse {
  readonly socket: Socket | null
  readonly headersSent: boolean
  readonly statusCode: number
  /** The whole answer was given to the kernel. */
  readonly writableFinished: boolean
  readonly destroyed: boolean
  /** The connection, when bytes of the body may be written to it as they are: the head has left, and the body has a length. */
  readonly bodySocket?: Socket | undefined
  sendDate: boolean
  /** False: the connection is closed after the answer. */
  shouldKeepAlive: boolean
  /** @param headers name, value, name, value */
  writeHead(status: number, headers: string[]): this
  writeHead(status: number, reason: string, headers: string[]): this
  writeContinue(): void
  flushHeaders(): void
  /** Returns false when the client has to read first; then `drain` follows. */
  write(bytes: Buffer, written?: (err?: Error | null) => void): boolean
  addTrailers(trailers: readonly [string, string][]): void
  end(): unknown
  end(text: string, encoding?: BufferEncoding): unknown
  destroy(): unknown
  once(event: 'finish' | 'close' | 'drain', listener: () => void): unknown
  off(event: 'finish' | 'close' | 'drain', listener: () => void): unknown
}
