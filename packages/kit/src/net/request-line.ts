import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { answerMalformed } from '../answers/raw-answer.ts'
import type { ProxyLimits } from '../config.ts'

/** One request on a client connection. */
export interface Turn {
  readonly req?: IncomingMessage
  /** Absent when the request has left Node's HTTP server. */
  readonly res?: ServerResponse
  /** Serves it until its answer was sent or the connection is closed. Never rejects. */
  readonly serve: () => Promise<void> | void
  /** Called once, when it was served or when it will never be served. */
  readonly leave?: () => void
}

export type RequestLineOptions = Pick<ProxyLimits, 'maxPipelined' | 'headersTimeoutMs'>

/**
 * The requests of one client connection, which are served one at a time in the order of their arrival. While more than `maxPipelined`
 * wait, nothing is read from the connection. Node's parser reads a whole chunk at a time, so up to 64 KiB of heads may
 * wait in addition.
 */
export class RequestLine {
  readonly #socket: Socket
  readonly #options: RequestLineOptions
  readonly #waiting: Turn[] = []
  #served: Turn | undefined
  #isHeld = false
  /** The timeout of a head that came while nothing was read, or while an earlier request was served. */
  #lateHead: NodeJS.ErrnoException | undefined
  #lateTimer: NodeJS.Timeout | undefined

  constructor(socket: Socket, options: RequestLineOptions) {
    this.#socket = socket
    this.#options = options
    // Node's HTTP server resumes the socket on its own.
    socket.on('resume', () => {
      if (this.#isHeld) socket.pause()
    })
    socket.once('close', () => {
      clearTimeout(this.#lateTimer)
      this.#leaveAll()
    })
  }

  get isIdle(): boolean {
    return this.#served === undefined
  }

  /** Serves `turn` after all earlier ones, unless one of them closes the connection. */
  enter(turn: Turn): void {
    clearTimeout(this.#lateTimer)
    if (this.#hasEnded) turn.leave?.()
    else if (this.isIdle) void this.#serve(turn)
    else {
      this.#waiting.push(turn)
      if (this.#waiting.length >= this.#options.maxPipelined) this.#hold()
    }
  }

  /** Answers bytes that cannot be parsed as a request, after the requests before them. Later bytes are not read. */
  enterMalformed(err: NodeJS.ErrnoException): void {
    if (err.code === 'ERR_HTTP_REQUEST_TIMEOUT' && !this.isIdle) {
      this.#lateHead = err
      return
    }
    const answer = (): void => answerMalformed(this.#socket, err)
    const last = this.#waiting.at(-1) ?? this.#served
    const isInBody = last?.req?.complete === false
    if (isInBody && last === this.#served) {
      // An answer that has begun can only be cut off.
      if (last.res?.headersSent === true) this.#socket.destroy()
      else answer()
      return
    }
    if (isInBody) this.#waiting.pop()?.leave?.()
    this.enter({ serve: answer })
    if (!this.isIdle) this.#hold()
  }

  async #serve(turn: Turn): Promise<void> {
    this.#served = turn
    if (this.#isHeld && this.#waiting.length < this.#options.maxPipelined) {
      this.#isHeld = false
      // The owner of a socket that has left the HTTP server reads it when it is ready.
      if (turn.res !== undefined) this.#socket.resume()
    }
    await turn.serve()
    turn.leave?.()
    this.#served = undefined
    if (this.#hasEnded) return this.#leaveAll()
    const next = this.#waiting.shift()
    if (next !== undefined) void this.#serve(next)
    else if (this.#lateHead !== undefined) this.#waitForHead(this.#lateHead)
  }

  /** Restarts the deadline of a head that arrived in part during earlier requests, because Node checks it only once. */
  #waitForHead(err: NodeJS.ErrnoException): void {
    this.#lateHead = undefined
    this.#lateTimer = setTimeout(() => this.enterMalformed(err), this.#options.headersTimeoutMs)
  }

  /** No further answer can be sent, so no further request may have an effect. */
  get #hasEnded(): boolean {
    return this.#socket.destroyed || this.#socket.writableEnded
  }

  #leaveAll(): void {
    for (const turn of this.#waiting.splice(0)) turn.leave?.()
  }

  #hold(): void {
    this.#isHeld = true
    this.#socket.pause()
  }
}
