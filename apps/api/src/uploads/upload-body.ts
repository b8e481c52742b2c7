import type { Readable } from 'node:stream'
import { AppError } from '@sandyard/kit/errors/app-error'

/** A sender that is silent for so long is given up. */
const STALL_MS = 30_000
/** As long as clients wait for an upload (clients.md 2.9). */
const TOTAL_MS = 3_600_000
/** Of a sender that goes away while somebody reads, and before. */
const CUT_OFF: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'])

/** The bytes of an upload, which may take their time but not for ever. */
export class UploadBody implements Disposable {
  readonly #body: Readable
  readonly #total: NodeJS.Timeout
  /** From the first time that somebody reads. */
  #stall: NodeJS.Timeout | undefined

  constructor(body: Readable) {
    this.#body = body
    this.#total = this.#giveUpAfter(TOTAL_MS, 'The upload took too long')
  }

  /** What leaves the loop early can still `drain`. @throws AppError `deadline_exceeded`, `canceled` when the sender went away */
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

  /** Reads and drops the rest, so that a sender that still sends hears the answer. */
  async drain(): Promise<void> {
    if (this.#body.destroyed || this.#body.readableEnded) return
    try {
      for await (const _ of this.chunks());
    } catch {
      // Nobody is there to be answered.
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
