import type { Readable } from 'node:stream'
import { AppError } from '@sandyard/kit/errors/app-error'

/** Deadline for the next bytes of an upload. */
const STALL_MS = 30_000
/** Deadline of a whole upload: the timeout of the clients (clients.md 2.9). */
const TOTAL_MS = 3_600_000
/** Errors of a client that disconnects during a read, or before it. */
const CUT_OFF: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'])

/** The bytes of an upload. A slow upload is accepted until its deadline. */
export class UploadBody implements Disposable {
  readonly #body: Readable
  readonly #total: NodeJS.Timeout
  /** Started by the first read. */
  #stall: NodeJS.Timeout | undefined

  constructor(body: Readable) {
    this.#body = body
    this.#total = this.#giveUpAfter(TOTAL_MS, 'The upload took too long')
  }

  /** A caller that stops early can still `drain`. @throws AppError `deadline_exceeded`, or `canceled` if the client disconnected */
  async *chunks(): AsyncGenerator<Buffer> {
    this.#stall ??= this.#giveUpAfter(STALL_MS, 'The upload stalled')
    try {
      for await (const chunk of this.#body.iterator({ destroyOnReturn: false })) {
        this.#stall.refresh()
        yield chunk as Buffer
      }
    } catch (err) {
      throw CUT_OFF.has((err as NodeJS.ErrnoException).code) ? new AppError('canceled', 'The upload was cut off', { cause: err }) : err
    }
  }

  /** Reads and drops the rest of the body, so that a client that is still sending can read the answer. */
  async drain(): Promise<void> {
    if (this.#body.destroyed || this.#body.readableEnded) return
    try {
      for await (const _ of this.chunks());
    } catch {
      // The client has disconnected: nobody reads the answer.
    }
  }

  #giveUpAfter(timeoutMs: number, message: string): NodeJS.Timeout {
    return setTimeout(() => void this.#body.destroy(new AppError('deadline_exceeded', message)), timeoutMs)
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#stall)
    clearTimeout(this.#total)
  }
}
