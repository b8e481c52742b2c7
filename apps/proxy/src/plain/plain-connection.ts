import type { Socket } from 'node:net'
import { parsePlainHead } from './parse-plain-head.ts'
import { PlainRequest } from './plain-request.ts'
import { PlainResponse } from './plain-response.ts'

export interface PlainConnectionOptions {
  readonly maxHeaderBytes: number
  /** For the first byte of the first request. */
  readonly headersTimeoutMs: number
  /** Between two requests. */
  readonly idleTimeoutMs: number
  readonly serve: (req: PlainRequest, res: PlainResponse) => void
  /** The connection has sent nothing in time. */
  readonly onSilence: (socket: Socket) => void
  /** The body of a request is malformed. */
  readonly onMalformed: (socket: Socket, err: NodeJS.ErrnoException) => void
  /** Gives the connection to Node's HTTP server, with what was read and not served. */
  readonly handOver: (socket: Socket, bytes: Buffer) => void
}

/**
 * A connection of a client whose requests are plain so far. They are served one after the other, without the objects that Node's HTTP server
 * makes for each. With the first bytes that are not one plain request and nothing else, the connection goes to that server and stays there.
 */
export class PlainConnection {
  readonly #socket: Socket
  readonly #options: PlainConnectionOptions
  #req: PlainRequest | undefined
  #res: PlainResponse | undefined
  #isStopping = false
  /** Node's HTTP server reads what follows the request that is served. */
  #hasLeft = false

  constructor(socket: Socket, options: PlainConnectionOptions) {
    this.#socket = socket
    this.#options = options
    socket.setTimeout(options.headersTimeoutMs)
    socket.on('data', this.#onData)
    socket.on('end', this.#onEnd)
    socket.on('timeout', this.#onTimeout)
    socket.on('close', this.#onClose)
  }

  /** Serves no further request: closes the connection now, or after its answer. */
  stop(): void {
    this.#isStopping = true
    if (this.#req === undefined) this.#socket.destroy()
  }

  readonly #onData = (bytes: Buffer): void => {
    const req = this.#req
    if (req === undefined) return this.#begin(bytes)
    const rest = this.#push(req, bytes)
    if (rest === undefined) return
    // The turns of the connection keep the order of the answers.
    if (rest.length > 0 && !/^[\r\n]+$/.test(rest.toString('latin1'))) this.#leave(rest)
    else this.#goOn()
  }

  readonly #onEnd = (): void => {
    // A client that has ended its sending still waits for its answer.
    if (this.#req === undefined || this.#res?.writableFinished === true) this.#socket.end()
    else if (!this.#req.complete) {
      const err = Object.assign(new Error('the body is incomplete'), { code: 'HPE_INVALID_EOF_STATE' })
      this.#options.onMalformed(this.#socket, err)
    }
  }

  readonly #onTimeout = (): void => {
    const isSilent = this.#res === undefined && !this.#socket.readableEnded
    if (this.#req !== undefined && !this.#socket.readableEnded) return
    if (isSilent) this.#options.onSilence(this.#socket)
    else this.#socket.destroy()
  }

  readonly #onClose = (): void => this.#res?.close()

  #begin(bytes: Buffer): void {
    const socket = this.#socket
    const { idleTimeoutMs, maxHeaderBytes, serve } = this.#options
    const req = readRequest(socket, bytes, maxHeaderBytes)
    if (req === undefined) return this.#leave(bytes)
    if (this.#res === undefined) socket.setTimeout(idleTimeoutMs)
    const res = new PlainResponse(socket, { idleTimeoutMs, onFinish: () => this.#onFinish() })
    if (this.#isStopping || !req.keepsAlive) res.shouldKeepAlive = false
    this.#req = req
    this.#res = res
    serve(req, res)
  }

  /** Returns the bytes behind the request; undefined when the body is malformed. */
  #push(req: PlainRequest, bytes: Buffer): Buffer | undefined {
    try {
      return req.push(bytes)
    } catch (err) {
      this.#socket.off('data', this.#onData)
      this.#options.onMalformed(this.#socket, err as NodeJS.ErrnoException)
      return undefined
    }
  }

  #onFinish(): void {
    const socket = this.#socket
    if (this.#res?.shouldKeepAlive === false || this.#isStopping) return socket.destroySoon()
    if (this.#hasLeft) return
    if (socket.readableEnded) return void socket.end()
    // What has not been read of the body is dropped, so that the next request can be read.
    if (this.#req?.complete === false) this.#req.resume()
    this.#goOn()
  }

  /** Waits for the next request when this one has arrived and is answered. */
  #goOn(): void {
    if (this.#req?.complete === true && this.#res?.writableFinished === true) this.#req = undefined
  }

  #leave(bytes: Buffer): void {
    const socket = this.#socket
    this.#hasLeft = true
    socket.off('data', this.#onData)
    socket.off('end', this.#onEnd)
    socket.off('timeout', this.#onTimeout)
    if (!socket.readableEnded) socket.setTimeout(0)
    this.#options.handOver(socket, bytes)
  }
}

/** Undefined for bytes that are not one plain request: requests that follow at once have an order and caps of their own. */
function readRequest(socket: Socket, bytes: Buffer, maxHeaderBytes: number): PlainRequest | undefined {
  const head = parsePlainHead(bytes, maxHeaderBytes)
  if (head === undefined) return undefined
  const req = new PlainRequest(head, socket)
  try {
    return req.push(bytes.subarray(head.length)).length === 0 ? req : undefined
  } catch {
    return undefined
  }
}
