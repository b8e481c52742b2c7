import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'

/** One request on a client connection. */
export interface Turn {
  readonly req?: { readonly complete: boolean }
  /** Absent when the request has left Node's HTTP server. */
  readonly res?: { readonly headersSent: boolean }
  /** Serves it until its answer was sent or the connection is closed. Never rejects. */
  readonly serve: () => Promise<void> | void
  /** Called once, when it was served or when it will never be served. */
  readonly leave?: () => void
}

export interface RequestLineOptions {
  /** How many requests may wait before the server stops reading from the connection. */
  readonly maxPipelined: number
  /** Deadline of a head that arrived in part during earlier requests. */
  readonly headersTimeoutMs: number
  /** Answers bytes that are not a request, and ends the connection. */
  readonly answerMalformed: (socket: Socket, err: NodeJS.ErrnoException) => void
}

/**
 * The requests of one client connection, which are served one at a time in the order of their arrival. Node would begin all requests of a
 * chunk at once. While `maxPipelined` requests wait, nothing is read from the connection. Node's parser reads a whole chunk at a
 * time, so up to 64 KiB of heads may wait in addition.
 */
export class RequestLine {
  readonly #socket: Socket
  readonly #options: RequestLineOptions
  readonly #waiting: Turn[] = []
  #served: Turn | undefined
  #isHeld = false
  #isMalformed = false
  /** The timeout of a head that came while nothing was read, or while an earlier request was served. */
  #lateHead: NodeJS.ErrnoException | undefined
  #lateTimer: NodeJS.Timeout | undefined

  /** Create it when the connection was accepted: it has to see all of its requests. */
  constructor(socket: Socket, options: RequestLineOptions) {
    this.#socket = socket
    this.#options = options
    // Each request that waits adds a few listeners.
    socket.setMaxListeners(0)
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

  /**
   * Answers bytes that cannot be parsed as a request, after the requests before them. Later bytes are read and dropped, because only a read
   * shows that the client has disconnected.
   */
  enterMalformed(err: NodeJS.ErrnoException): void {
    // The parser fails again at each chunk that follows.
    if (this.#isMalformed) return
    if (err.code === 'ERR_HTTP_REQUEST_TIMEOUT' && !this.isIdle) {
      this.#lateHead = err
      return
    }
    const answer = (): void => this.#options.answerMalformed(this.#socket, err)
    const last = this.#waiting.at(-1) ?? this.#served
    const isInBody = last?.req?.complete === false
    if (isInBody && last === this.#served) {
      // An answer that has begun can only be cut off.
      if (last.res?.headersSent === true) this.#socket.destroy()
      else answer()
      return
    }
    if (isInBody) this.#waiting.pop()?.leave?.()
    this.#isMalformed = true
    this.enter({ serve: answer })
  }

  async #serve(first: Turn): Promise<void> {
    for (let turn: Turn | undefined = first; turn !== undefined; turn = this.#waiting.shift()) {
      this.#served = turn
      // Requests that are answered at once must not keep the event loop from other connections.
      if (turn !== first) await setImmediate()
      this.#readOn(turn)
      if (!this.#hasEnded) await turn.serve()
      turn.leave?.()
      this.#served = undefined
      if (this.#hasEnded) this.#leaveAll()
    }
    if (this.#lateHead !== undefined && !this.#hasEnded) this.#waitForHead(this.#lateHead)
  }

  /** Reads from the connection again when enough of the waiting requests were served. */
  #readOn({ res }: Turn): void {
    if (!this.#isHeld || this.#waiting.length >= this.#options.maxPipelined) return
    this.#isHeld = false
    // The owner of a socket that has left the HTTP server reads it when it is ready.
    if (res !== undefined) this.#socket.resume()
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
