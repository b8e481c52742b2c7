import { AppError } from '@sandyard/kit/errors/app-error'

/** Uploads leave the host so much. */
const RESERVE_BYTES = 256 * 1024 ** 2
/** How much of an upload is written between two looks at the disk. */
const STEP_BYTES = 4 * 1024 ** 2

/**
 * Space on the disk is taken by bytes that have arrived. A declared size reserves nothing: its sender may never send the rest, or take an
 * hour.
 */
export class UploadSpace {
  readonly #freeBytes: () => Promise<number>

  constructor(freeBytes: () => Promise<number>) {
    this.#freeBytes = freeBytes
  }

  /** @throws AppError `insufficient_storage` when so much more would not fit now */
  async check(sizeBytes: number): Promise<void> {
    if ((await this.#freeBytes()) - sizeBytes < RESERVE_BYTES) throw diskFull()
  }

  /** Passes bytes on as long as the disk has room. @throws AppError `insufficient_storage` */
  async *guard(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let passed = 0
    for await (const chunk of chunks) {
      yield chunk
      passed += chunk.length
      if (passed < STEP_BYTES) continue
      passed = 0
      await this.check(0)
    }
  }
}

export function diskFull(cause?: unknown): AppError {
  return new AppError('insufficient_storage', 'The server has no disk space left for this upload: free some, or remove templates', {
    cause,
  })
}
