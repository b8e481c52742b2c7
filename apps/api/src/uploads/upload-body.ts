import type { Readable } from 'node:stream'
import { AppError } from '@sandyard/kit/errors/app-error'

/** A sender that is silent for so long is given up. */
const STALL_MS = 30_000
/** As long as clients wait for an upload (clients.md 2.9). */
const TOTAL_MS = 3_600_000

/** The bytes of an upload, which may take their time but not for ever. */
export class UploadBody implements Disposable {
  readonly #body: Readable
  readonly #stall: NodeJS.Timeout
  readonly #total: NodeJS.Timeout

  constructor(body: Readable) {
    this.#body = body
    const give = (message: string) => (): void => void body.destroy(new AppError('deadline_exceeded', message))
    this.#stall = setTimeout(give('The upload stalled'), STALL_MS)
    this.#total = setTimeout(give('The upload took too long'), TOTAL_MS)
  }

  /** What leaves the loop early can still `drain`. @throws AppError `deadline_exceeded`, `canceled` when the sender went away */
  async *chunks(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of this.#body.iterator({ destroyOnReturn: false })) {
        this.#stall.refresh()
        yield chunk as Buffer
      }
    } catch (err) {
      throw (err as NodeJS.ErrnoException).code === 'ECONNRESET' ? new AppError('canceled', 'The upload was cut off', { cause: err }) : err
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

  [Symbol.dispose](): void {
    clearTimeout(this.#stall)
    clearTimeout(this.#total)
  }
}
