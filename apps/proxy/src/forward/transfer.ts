import { SMALL_BYTES, writeAndRelease } from '@sandyard/kit/net/relay-bytes'
import type { DownstreamResponse } from '../message/downstream-message.ts'
import { formatRequestHead, toPairs } from '../message/head.ts'
import { AnswerParser, type AnswerHandler, type AnswerHead } from './answer-parser.ts'
import type { Exchange } from './find-exchange.ts'
import { breakOff } from './open-tunnel.ts'
import { KernelRelay, MIN_RELAYED_BYTES } from './kernel-relay.ts'
import { InterimRelay, type InterimLimits } from './relay-interim.ts'
import { lendBytes, reusesMemory, shrinkMemory, SMALL_BLOCK_BYTES } from './read-memory.ts'
import { RequestSender } from './request-sender.ts'
import { keepsTrailers, responseHeaders } from './response-headers.ts'
import type { ConnectionUser, UpstreamConnection } from './upstream-connection.ts'

export interface TransferParts {
  readonly exchange: Exchange
  readonly connection: UpstreamConnection
  readonly res: DownstreamResponse
  readonly limits: InterimLimits
  /** Called when the head of the answer has arrived. */
  readonly onAnswer: () => void
  /** Called instead of a close when the connection can serve another request. Absent when the sandbox is asked to close it. */
  readonly keep?: (() => void) | undefined
}

/** One request to a sandbox and its answer, over one connection. */
export class Transfer implements ConnectionUser, AnswerHandler {
  readonly #parts: TransferParts
  readonly #parser: AnswerParser
  readonly #request: RequestSender
  readonly #interim: InterimRelay
  #relay: KernelRelay | undefined
  readonly #done = Promise.withResolvers<void>()
  /** The connection is in use: neither failed nor complete. */
  #isOpen = true
  /** What has to happen before the connection is read again. */
  #waits = 0
  #waitsForDrain = false
  #isComplete = false
  #hasTrailers = false
  /** The client gets the head with the first bytes of the body, or at the end of the read. */
  #isHeadHeld = false
  /** The last bytes of the body, which are sent with the end of the answer or at the end of the read. */
  #held: Buffer | undefined

  constructor(parts: TransferParts) {
    const { exchange, connection, res, limits } = parts
    this.#parts = parts
    this.#parser = new AnswerParser({ handler: this, isHead: exchange.inbound.method === 'HEAD', sandboxId: exchange.sandboxId })
    this.#request = new RequestSender(exchange.req, connection.socket)
    this.#interim = new InterimRelay(exchange, res, limits)
  }

  /**
   * Resolves when the client has its answer. Rejects when the exchange cannot be completed: the client may have received a part of the
   * answer, and the connection is closed.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { connection, res } = this.#parts
    const abort = (): void => this.#fail(signal.reason)
    try {
      signal.throwIfAborted()
      signal.addEventListener('abort', abort)
      res.once('finish', this.#done.resolve)
      connection.enter(this)
      this.#send()
      await this.#done.promise
    } finally {
      signal.removeEventListener('abort', abort)
      res.off('finish', this.#done.resolve)
      this.#breakOff()
      this.#parser.close()
      this.#leaveRelay()
    }
  }

  /** Not a part of `run`, which would keep the text until the answer ends. */
  #send(): void {
    const { exchange, keep } = this.#parts
    const { method, path, hasBody } = exchange.inbound
    const head = formatRequestHead(method, path, [...exchange.headers, 'Connection', keep === undefined ? 'close' : 'keep-alive'])
    this.#request.send(head, hasBody)
  }

  onData(bytes: Buffer): void {
    this.#read(() => this.#parser.push(bytes))
    // Other connections wait while a read is parsed.
    if (this.#parser.hasTinyChunks) shrinkMemory(this.#parts.connection.socket)
    if (bytes.length >= SMALL_BLOCK_BYTES && this.#parser.bytesLeft >= MIN_RELAYED_BYTES) this.#relayInKernel()
  }

  onEnd(): void {
    this.#read(() => this.#parser.finish())
  }

  onDrain(): void {
    this.#request.resume()
  }

  onClose(err: Error | undefined): void {
    this.#fail(err ?? new Error('the connection closed without an answer'))
  }

  onInterim(head: AnswerHead): void {
    if (!this.#interim.pass(head)) this.#waitFor(this.#parts.res.socket)
  }

  onHead(head: AnswerHead): void {
    if (head.status === 101) throw new Error('the answer switches to no protocol')
    const { exchange, res, onAnswer } = this.#parts
    onAnswer()
    this.#hasTrailers = keepsTrailers(head, exchange.inbound)
    res.sendDate = false
    res.writeHead(head.status, head.reason, responseHeaders(head, this.#hasTrailers))
    this.#isHeadHeld = true
  }

  onBody(bytes: Buffer): void {
    // The first bytes leave together with the head.
    if (this.#held !== undefined) this.#flush()
    this.#held = bytes
  }

  onComplete(trailers: readonly string[]): void {
    if (this.#hasTrailers && trailers.length > 0) this.#parts.res.addTrailers(toPairs(trailers))
    this.#isComplete = true
  }

  #read(parse: () => void): void {
    if (!this.#isOpen) return
    try {
      parse()
    } catch (err) {
      this.#fail(err)
    }
    if (this.#isComplete) this.#end()
    else this.#flush()
  }

  /** Passes on what has arrived behind a large read. The parser reads the last bytes of the body, with what follows them. */
  #relayInKernel(): void {
    const { res, connection } = this.#parts
    const { socket } = connection
    const client = res.bodySocket
    // What Node still has to write comes first.
    if (!this.#isOpen || this.#waits > 0 || client?.writableLength !== 0 || !reusesMemory(socket)) return
    const relay = KernelRelay.open(socket, client)
    if (relay === undefined) return
    this.#relay = relay
    const bytes = relay.relay(this.#parser.bytesLeft - SMALL_BYTES)
    // The next read only tells that there is more.
    if (bytes > 0) shrinkMemory(socket)
    this.#parser.skip(bytes)
    if (!relay.isBlocked) return this.#leaveRelay()
    const readOn = this.#pause()
    relay.drained(() => {
      this.#leaveRelay()
      readOn()
    })
  }

  /** A download that stands still has none. */
  #leaveRelay(): void {
    this.#relay?.[Symbol.dispose]()
    this.#relay = undefined
  }

  #end(): void {
    const { res, connection, keep } = this.#parts
    const { socket } = connection
    this.#isOpen = false
    // What happens to the connection from now on must not cut off the answer, which the client may still be reading.
    connection.leave()
    if (this.#waits > 0) socket.resume()
    // An answer that ends before the request has ended also ends the exchange.
    const isSent = this.#request.isSent && socket.writableLength === 0
    this.#request.abandon()
    if (!isSent) breakOff(socket)
    else if (keep !== undefined && this.#parser.mayContinue) keep()
    else socket.destroySoon()
    const last = this.#held
    if (last !== undefined && last.length < SMALL_BYTES) res.end(last.toString('latin1'), 'latin1')
    else {
      if (last !== undefined) this.#write(last)
      res.end()
    }
  }

  #fail(err: unknown): void {
    this.#breakOff()
    this.#done.reject(err)
  }

  /** Closes the connection, if the answer is not complete. */
  #breakOff(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#request.abandon()
    breakOff(this.#parts.connection.socket)
  }

  /** Sends what is held back: nothing that has arrived waits for what has not. */
  #flush(): void {
    const { res } = this.#parts
    const bytes = this.#held
    this.#held = undefined
    if (bytes !== undefined) {
      if (!this.#write(bytes)) this.#waitFor(res)
    } else if (this.#isHeadHeld) res.flushHeaders()
    this.#isHeadHeld = false
  }

  /** Returns false when the client has to read first. */
  #write(bytes: Buffer): boolean {
    const { res, connection } = this.#parts
    // Node drops bytes for a connection that is closing without a call of `written`, and the memory would stay lent.
    if (res.socket?.writable !== true) return false
    if (!reusesMemory(connection.socket)) return writeAndRelease(res, bytes)
    if (bytes.length < SMALL_BYTES) return res.write(Buffer.from(bytes))
    let isWritten = false
    let readOn: (() => void) | undefined
    const mayGoOn = res.write(bytes, () => {
      isWritten = true
      readOn?.()
    })
    // What the kernel has not taken must not be read over.
    if (!isWritten && res.socket?.writableLength !== 0) readOn = this.#lend()
    return mayGoOn
  }

  /** Keeps the bytes of this read until the returned function is called. Nothing is read meanwhile. */
  #lend(): () => void {
    const giveBack = lendBytes(this.#parts.connection.socket)
    const readOn = this.#pause()
    return () => {
      giveBack?.()
      readOn()
    }
  }

  /** Reads no more from the sandbox until the client has read. */
  #waitFor(client: Pick<DownstreamResponse, 'once'> | null): void {
    if (client === null || this.#waitsForDrain) return
    this.#waitsForDrain = true
    const readOn = this.#pause()
    client.once('drain', () => {
      this.#waitsForDrain = false
      readOn()
    })
  }

  /** Reads no more from the sandbox until the returned function, and those of other calls, are called. */
  #pause(): () => void {
    const { socket } = this.#parts.connection
    this.#waits += 1
    if (this.#isOpen) socket.pause()
    return () => {
      this.#waits -= 1
      if (this.#waits === 0 && this.#isOpen) socket.resume()
    }
  }
}
