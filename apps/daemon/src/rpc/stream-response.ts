import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { compress, GZIP } from './compression.ts'
import { COMPRESSED, END_OF_STREAM, envelope } from './envelope.ts'
import type { RpcError } from './rpc-error.ts'

/**
 * The answer to a stream: always 200, whatever comes of it, and always with an end (envd.md 6.3). Each message is on its way at once.
 * Writing to a client that has gone does nothing.
 */
export class StreamResponse {
  readonly raw: ServerResponse
  readonly #reply: FastifyReply
  readonly #contentType: string
  #gzip = false

  constructor(reply: FastifyReply, contentType: string) {
    this.#reply = reply.hijack()
    this.raw = reply.raw
    this.#contentType = contentType
    // Writes to a client that has gone fail; `close` says so.
    this.raw.on('error', () => undefined)
  }

  /** Compressed messages are only for clients that asked for them: some cannot read any (envd.md 6.5). */
  compress(): void {
    this.#gzip = true
  }

  /** Undefined where the next message can follow at once; else resolves when the connection has room for more, or is gone. */
  write(payload: string | Buffer): Promise<void> | undefined {
    this.#open()
    return this.#gzip ? this.#writeCompressed(payload) : this.#write(envelope(0, payload))
  }

  /** Says how the stream ended, and that it did. */
  async end(error?: RpcError): Promise<void> {
    this.#open()
    const payload = JSON.stringify(error === undefined ? {} : { error })
    this.raw.end(this.#gzip ? await frameCompressed(END_OF_STREAM, payload) : envelope(END_OF_STREAM, payload))
  }

  #write(framed: Buffer): Promise<void> | undefined {
    return this.raw.destroyed || this.raw.write(framed) ? undefined : drained(this.raw)
  }

  async #writeCompressed(payload: string | Buffer): Promise<void> {
    await this.#write(await frameCompressed(0, payload))
  }

  #open(): void {
    if (this.raw.headersSent) return
    for (const [name, value] of Object.entries(this.#reply.getHeaders())) {
      if (value !== undefined) this.raw.setHeader(name, value)
    }
    this.raw.writeHead(200, {
      'content-type': this.#contentType,
      'connect-accept-encoding': GZIP,
      ...(this.#gzip ? { 'connect-content-encoding': GZIP } : {}),
    })
  }
}

async function frameCompressed(flags: number, payload: string | Buffer): Promise<Buffer> {
  const compressed = await compress(Buffer.from(payload))
  return compressed === undefined ? envelope(flags, payload) : envelope(flags | COMPRESSED, compressed)
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.once('drain', done).once('close', done)
  })
}
