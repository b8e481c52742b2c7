import { AppError } from '@sandyard/kit/errors/app-error'

/** Free space that uploads leave for the host. */
const RESERVE_BYTES = 256 * 1024 ** 2
/** Bytes of an upload between two checks of the free space. */
const STEP_BYTES = 4 * 1024 ** 2

/**
 * Checks the free space of the disk. Only received bytes use space: a declared size reserves none, because its sender may never send the
 * rest, or take an hour.
 */
export class UploadSpace {
  readonly #freeBytes: () => Promise<number>

  constructor(freeBytes: () => Promise<number>) {
    this.#freeBytes = freeBytes
  }

  /** @throws AppError `insufficient_storage` when this many more bytes do not fit now */
  async check(sizeBytes: number): Promise<void> {
    if ((await this.#freeBytes()) - sizeBytes < RESERVE_BYTES) throw diskFull()
  }

  /** Passes bytes on while the disk has free space. @throws AppError `insufficient_storage` */
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
