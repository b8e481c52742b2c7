import type { ServerResponse } from 'node:http'
import { encodeLine, type OutputLine } from './output-line.ts'

const KEEPALIVE_MS = 5000
/** What a client may be behind. A kernel cannot be made to wait, so a cell that prints faster than its client reads is interrupted. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024

/** The answer of `/execute`: lines from the beginning of the request on, with one every five seconds that keeps the connection alive. */
export class CellStream {
  readonly #response: ServerResponse
  readonly #stop = new AbortController()
  readonly #timer: NodeJS.Timeout
  #isOver = false
  #tooMuch = false

  constructor(response: ServerResponse) {
    this.#response = response
    response.writeHead(200, { 'Content-Type': 'application/x-ndjson', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' })
    response.flushHeaders()
    response.once('close', () => this.#end())
    // A failure of the connection is also its close.
    response.on('error', () => undefined)
    this.#timer = setInterval(() => this.write({ type: 'keepalive' }), KEEPALIVE_MS)
  }

  /** Aborts when the client has gone or cannot follow: nobody needs the cell's output any more. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  write(line: OutputLine): void {
    if (this.#isOver || this.#tooMuch) return
    this.#response.write(encodeLine(line), 'latin1')
    if (this.#response.writableLength <= MAX_UNREAD_BYTES) return
    this.#tooMuch = true
    this.#stop.abort()
  }

  /** Ends the answer. */
  end(): void {
    if (this.#isOver) return
    if (this.#tooMuch) this.#response.write(encodeLine(TOO_MUCH), 'latin1')
    this.#response.end(encodeLine({ type: 'end_of_execution' }), 'latin1')
    this.#end()
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearInterval(this.#timer)
    this.#stop.abort()
  }
}

const TOO_MUCH: OutputLine = {
  type: 'error',
  name: 'OutputLimitExceeded',
  value: `The cell was interrupted because its client was ${MAX_UNREAD_BYTES / 1024 / 1024} MiB of output behind`,
  traceback: '',
}
