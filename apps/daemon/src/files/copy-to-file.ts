import { failedCall } from '../sys/errno-text.ts'
import { MemoryShare } from './memory-share.ts'
import { releaseBytes } from '@sandyard/kit/net/release-bytes'
import type { TargetFile } from './target-file.ts'

/**
 * Writes a body to an open file. While one write is under way what arrives is gathered for the next, so that neither the network
 * nor the disk waits for the other.
 *
 * @throws Error whose `cause` is the system's error when the file cannot take it; whatever `body` throws. What arrived before is written
 */
export async function copyToFile(file: TargetFile, body: AsyncIterable<Buffer>, path: string): Promise<void> {
  using share = new MemoryShare()
  const writer = new QueuedWriter(file, path, share.bytes)
  try {
    for await (const chunk of body) await writer.add(chunk)
  } finally {
    await writer.settled()
  }
  writer.throwFailure()
}

class QueuedWriter {
  readonly #file: TargetFile
  readonly #path: string
  /** How much may wait for the disk before the network has to wait. */
  readonly #maxQueuedBytes: number
  #queue: Buffer[] = []
  #queuedBytes = 0
  #writing: Promise<void> | undefined
  #failure: Error | undefined

  constructor(file: TargetFile, path: string, maxQueuedBytes: number) {
    this.#file = file
    this.#path = path
    this.#maxQueuedBytes = maxQueuedBytes
  }

  /** Takes a chunk, at once while there is room for it. */
  async add(chunk: Buffer): Promise<void> {
    this.throwFailure()
    this.#queue.push(chunk)
    this.#queuedBytes += chunk.length
    this.#writing ??= this.#drain()
    if (this.#queuedBytes >= this.#maxQueuedBytes) await this.#writing
  }

  /** Resolves when nothing is under way any more, whatever came of it. */
  async settled(): Promise<void> {
    await this.#writing
  }

  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  async #drain(): Promise<void> {
    try {
      while (this.#queue.length > 0) {
        const batch = this.#queue
        this.#queue = []
        this.#queuedBytes = 0
        await writeFully(this.#file, batch)
        for (const chunk of batch) releaseBytes(chunk)
      }
    } catch (error) {
      this.#failure = new Error(failedCall('write', this.#path, error), { cause: error })
    } finally {
      this.#writing = undefined
    }
  }
}

/** A full disk shows as a short write first; only the next one fails. */
async function writeFully(file: TargetFile, chunks: readonly Buffer[]): Promise<void> {
  let rest = chunks
  while (rest.length > 0) {
    const { bytesWritten } = await file.writev(rest)
    rest = dropBytes(rest, bytesWritten)
  }
}

function dropBytes(chunks: readonly Buffer[], count: number): readonly Buffer[] {
  let dropped = 0
  for (const [index, chunk] of chunks.entries()) {
    if (dropped + chunk.length > count) return [chunk.subarray(count - dropped), ...chunks.slice(index + 1)]
    dropped += chunk.length
  }
  return []
}
