import { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { RequestLine } from '@sandyard/kit/net/request-line'
import { resetSocket } from '@sandyard/kit/net/reset-socket'
import { ProxyError, type Cap } from '../answers/proxy-error.ts'
import { answerMalformed } from '../answers/raw-answer.ts'
import type { ProxyLimits } from '../config.ts'
import type { DownstreamRequest, DownstreamResponse } from '../message/downstream-message.ts'
import type { ClientAddresses } from '@sandyard/kit/net/client-addresses'
import { watchHalfOpen } from './half-open.ts'
import { countedHeadBytes } from './head-bytes.ts'
import { dropPartialHead, PartialRequest } from './partial-request.ts'
import { awaitRestOfBody } from './rest-of-body.ts'
import { Quota, type Refusal } from '@sandyard/kit/limits/quota'

export interface ClientConnectionsParts {
  readonly limits: ProxyLimits
  readonly addresses: ClientAddresses
  readonly countRefused: (cap: Cap) => void
}

export interface Entry {
  readonly req: DownstreamRequest
  /** Absent for an upgrade. */
  readonly res?: DownstreamResponse
  /** Excluded from the caps. */
  readonly isExempt?: boolean
  /** Resolves when the request is answered or its client has disconnected. Never rejects. */
  readonly serve: () => Promise<void> | void
  /** Answers with the error instead, with the same guarantees. */
  readonly refuse: (error: ProxyError) => Promise<void> | void
}

interface Client {
  readonly line: RequestLine
  /** Why its only request is refused. */
  readonly refusal: ProxyError | undefined
  /** What has arrived of the next one. */
  readonly partial: PartialRequest
  /** Requests on this connection so far. */
  requests: number
}

/** How many connections over a cap stay open until they have received the refusal. */
export const MAX_REFUSED = 256
/** How long such a connection may wait before it sends its request. */
const REFUSED_MS = 2000

/** Admits connections and requests of clients up to the caps, and serves the requests of a connection in order. */
export class ClientConnections {
  readonly #parts: ClientConnectionsParts
  readonly #clients = new WeakMap<Socket, Client>()
  readonly #connections: Quota
  readonly #requests: Quota
  /** Bytes of the large heads of requests, which stay in memory until the answer and the body end. */
  readonly #headBytes: Quota
  readonly #refused = new Quota({ all: MAX_REFUSED, one: MAX_REFUSED / 2 })

  constructor(parts: ClientConnectionsParts) {
    const { maxConnections, maxClientConnections, maxRequests, maxClientRequests, maxHeadBytes } = parts.limits
    this.#parts = parts
    this.#connections = new Quota({ all: maxConnections, one: maxClientConnections })
    this.#requests = new Quota({ all: maxRequests, one: maxClientRequests })
    this.#headBytes = new Quota({ all: maxHeadBytes, one: maxHeadBytes / 2 })
  }

  get counts(): { readonly connections: number; readonly requests: number; readonly headBytes: number } {
    return { connections: this.#connections.count, requests: this.#requests.count, headBytes: this.#headBytes.count }
  }

  /**
   * Counts a new connection. A connection over a cap gets an answer to its first request, or is closed at once when many are over it.
   * Returns false for both.
   */
  accept(socket: Socket): boolean {
    const { addresses, limits } = this.#parts
    const owner = addresses.ofSocket(socket)
    const refusal = this.#connections.take(owner)
    const counted = refusal === undefined ? this.#connections : this.#refused
    if (refusal !== undefined && this.#refused.take(owner) !== undefined) {
      this.#parts.countRefused(capOf(refusal, 'connections'))
      socket.destroy()
      return false
    }
    const partial = new PartialRequest(this.#headBytes, owner)
    socket.once('close', () => {
      counted.release(owner)
      partial.end()
    })
    if (refusal !== undefined) socket.setTimeout(REFUSED_MS)
    this.#clients.set(socket, {
      line: new RequestLine(socket, { ...limits, answerMalformed }),
      refusal: refusal && toError(refusal, 'connections'),
      partial,
      requests: 0,
    })
    watchHalfOpen(socket, limits)
    return refusal === undefined
  }

  /**
   * Serves a request after the earlier ones of its connection. A request over a cap is answered with the refusal. If it was sent before
   * earlier answers, its connection is ended instead, because queued refusals would need memory too.
   */
  enter({ req, res, isExempt = false, serve, refuse }: Entry): void {
    const client = this.#clients.get(req.socket)
    // A chunk may contain more requests after the one that ended the connection.
    if (client === undefined || req.socket.destroyed) return void req.socket.destroy()
    const { line, refusal } = client
    const { limits, addresses, countRefused } = this.#parts
    client.requests += 1
    // Plain requests are not kept in part.
    if (req instanceof IncomingMessage) client.partial.enter(req)
    if (res === undefined) client.partial.stop()
    // Node closes the connection after this answer, and drops the bytes after the request.
    const isLast = refusal !== undefined || client.requests >= limits.maxConnectionRequests
    if (res !== undefined && isLast) res.shouldKeepAlive = false
    const turn = { req, ...(res !== undefined && { res }) }
    const afterBody = (done: () => void): void => {
      awaitRestOfBody(req, { timeoutMs: limits.bodyRestTimeoutMs, isServing: () => !line.isIdle, done })
    }
    if (isExempt && line.isIdle) return line.enter({ ...turn, serve, leave: () => afterBody(() => undefined) })
    const owner = addresses.ofRequest(req)
    const headBytes = countedHeadBytes(req)
    const error = refusal ?? this.#admit(owner, headBytes)
    if (error === undefined) {
      const leave = (): void => {
        this.#requests.release(owner)
        afterBody(() => headBytes > 0 && this.#headBytes.release(owner, headBytes))
      }
      return line.enter({ ...turn, serve, leave })
    }
    if (line.isIdle) return line.enter({ ...turn, serve: () => refuse(error) })
    if (error.problem.kind === 'limit') countRefused(error.problem.cap)
    resetSocket(req.socket)
  }

  /**
   * To be called when Node's HTTP server has parsed a read of a connection. Counts what it keeps of a head that has arrived in part, and ends the
   * connection when it is too much.
   */
  read(socket: Socket, bytes: Buffer): void {
    const client = this.#clients.get(socket)
    const refusal = client?.partial.read(bytes)
    if (client === undefined || refusal === undefined) return
    this.#parts.countRefused(capOf(refusal, 'head_bytes'))
    dropPartialHead(socket)
    if (client.line.isIdle) this.enterMalformed(socket, Object.assign(new Error('too many heads'), { code: 'ERR_TOO_MANY_HEADS' }))
    else resetSocket(socket)
  }

  enterMalformed(socket: Socket, err: NodeJS.ErrnoException): void {
    const client = this.#clients.get(socket)
    if (err.code !== 'ERR_HTTP_REQUEST_TIMEOUT') client?.partial.stopAfterRead()
    const line = client?.line
    if (line === undefined || err.code === 'ECONNRESET' || !socket.writable) socket.destroy()
    else line.enterMalformed(err)
  }

  #admit(owner: string | undefined, headBytes: number): ProxyError | undefined {
    const refusal = this.#requests.take(owner)
    if (refusal !== undefined) return toError(refusal, 'requests')
    const tooLarge = headBytes === 0 ? undefined : this.#headBytes.take(owner, headBytes)
    if (tooLarge === undefined) return undefined
    this.#requests.release(owner)
    return toError(tooLarge, 'head_bytes')
  }
}

type Counted = 'connections' | 'requests' | 'head_bytes'

function capOf({ of }: Refusal, what: Counted): Cap {
  return of === 'all' ? what : `client_${what}`
}

function toError(refusal: Refusal, what: Counted): ProxyError {
  return new ProxyError({ kind: 'limit', cap: capOf(refusal, what), limit: refusal.limit })
}
