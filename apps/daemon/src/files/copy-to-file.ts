import { failedCall } from '../sys/errno-text.ts'
import { MemoryShare } from './memory-share.ts'
import { releaseBytes } from '@sandyard/kit/net/release-bytes'
import type { TargetFile } from './target-file.ts'

/**
 * Writes a body to an open file. Chunks that arrive during a write are collected for the next one, so network and disk work in parallel.
 *
 * @throws Error with the system error as `cause` if a write fails; errors of `body`. Bytes that arrived before an error are written
 */
export async function copyToFile(file: TargetFile, body: Buffer | AsyncIterable<Buffer>, path: string): Promise<void> {
  if (Buffer.isBuffer(body)) return writeWhole(file, body, path)
  using share = new MemoryShare()
  const writer = new QueuedWriter(file, path, share.bytes)
  try {
    for await (const chunk of body) await writer.add(chunk)
  } finally {
    await writer.settled()
  }
  writer.throwFailure()
}

/** An existing file still has its old content, so a failure removes what of it follows the written bytes. */
async function writeWhole(file: TargetFile, body: Buffer, path: string): Promise<void> {
  let written = 0
  try {
    while (written < body.length) written += (await file.writev([body.subarray(written)])).bytesWritten
  } catch (error) {
    await file.truncate(written)
    throw new Error(failedCall('write', path, error), { cause: error })
  }
}

class QueuedWriter {
  readonly #file: TargetFile
  readonly #path: string
  /** Queued bytes at which `add` starts to wait for the disk. */
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

  /** Queues a chunk. Waits only while the queue is full. */
  async add(chunk: Buffer): Promise<void> {
    this.throwFailure()
    this.#queue.push(chunk)
    this.#queuedBytes += chunk.length
    this.#writing ??= this.#drain()
    if (this.#queuedBytes >= this.#maxQueuedBytes) await this.#writing
  }

  /** Resolves when no write is in flight, also after a failure. */
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

/** On a full disk the first write is short, and only the next one fails. */
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
