import { connect, type Socket } from 'node:net'
import { type Address, toBytes, type WireRequest } from '../wire/exchange.ts'
import { parseAnswer, type WireAnswer } from '../wire/parse-answer.ts'

/** A call whose answer can be read while it arrives, and whose request may continue. */
export class OpenCall {
  readonly request: WireRequest
  readonly #socket: Socket
  readonly #chunks: Buffer[] = []
  #isClosed = false
  #parsed: { readonly chunks: number; readonly isClosed: boolean; readonly answer: WireAnswer } | undefined

  constructor(address: Address, request: WireRequest) {
    this.request = request
    this.#socket = connect(address.port, address.host)
    this.#socket.on('data', (chunk) => this.#chunks.push(chunk))
    // Bytes that arrived before an error count.
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => (this.#isClosed = true))
    this.#socket.write(toBytes(address, request))
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** The bytes that have arrived so far. */
  answer(): WireAnswer {
    const [chunks, isClosed] = [this.#chunks.length, this.#isClosed]
    if (this.#parsed?.chunks !== chunks || this.#parsed.isClosed !== isClosed) {
      this.#parsed = { chunks, isClosed, answer: parseAnswer(Buffer.concat(this.#chunks), !isClosed) }
    }
    return this.#parsed.answer
  }

  send(bytes: Buffer): void {
    this.#socket.write(`${bytes.length.toString(16)}\r\n`)
    this.#socket.write(bytes)
    this.#socket.write('\r\n')
  }

  finish(): void {
    if (!this.#isClosed) this.#socket.write('0\r\n\r\n')
  }

  drop(): void {
    this.#socket.destroy()
  }
}
