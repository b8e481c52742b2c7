import { Readable } from 'node:stream'
import type { FileContent } from './file-content.ts'

/** A stream of a file's chunks that closes the file when it ends, fails, or is given up because the client is gone. */
export function contentStream(content: FileContent, chunks: AsyncIterable<Buffer>): Readable {
  const stream = Readable.from(chunks, { objectMode: false })
  // Not in a `finally` of the generator: one that was never started is never finished either.
  stream.once('close', () => void content[Symbol.asyncDispose]())
  return stream
}
