import type { FastifyReply } from 'fastify'
import type { OutgoingHttpHeaders } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { BLOCK_BYTES, type Compression, Compressor, compressWhole, isWorthCompressing, isWorthIt } from './compressor.ts'
import { typeByExtension } from './content-type.ts'
import type { FileContent } from './file-content.ts'
import { HttpFailure } from './http-failure.ts'
import { MemoryShare } from './memory-share.ts'

/** Files up to this size are always compressed, as upstream does: it costs next to nothing. */
const SMALL_BYTES = 1024

export interface CompressionRequest {
  readonly coding: Compression
  /** The client requires the coding for any content. */
  readonly isDemanded: boolean
  readonly acceptsIdentity: boolean
}

/** The body of a compressed answer: all of its bytes, or the compressor that produces them. */
export type CompressedBody = Buffer | Compressor

/**
 * Prepares a compressed answer. Undefined if the file goes as it is: its first block does not shrink, or too many downloads are being
 * compressed already.
 *
 * @throws HttpFailure 503 if there are too many and the client refuses identity
 */
export async function prepareCompression(content: FileContent, request: CompressionRequest): Promise<CompressedBody | undefined> {
  const { coding, isDemanded, acceptsIdentity } = request
  if (content.isWhole) {
    const { length } = content.start
    const compressed = await compressWhole(content.start, coding)
    return isDemanded || length <= SMALL_BYTES || isWorthIt(compressed.length, length) ? compressed : undefined
  }
  if (!isDemanded && !(await isWorthCompressing(await content.readFirst(BLOCK_BYTES)))) return undefined
  const compressor = Compressor.start(coding)
  if (compressor !== undefined || acceptsIdentity) return compressor
  throw new HttpFailure(503, 'too many compressed downloads at once: retry, or accept identity encoding')
}

interface CompressedFile {
  readonly content: FileContent
  readonly body: CompressedBody
  readonly coding: Compression
  /** The path of the request, which determines the content type. */
  readonly asked: string
}

/**
 * Answers with the compressed file: without length, ranges and date, which describe the identity bytes (envd.md 5.6). Owns file and body.
 *
 * @throws Error after the headers were sent; the connection is cut then
 */
export async function sendCompressed(reply: FastifyReply, { content, body, coding, asked }: CompressedFile): Promise<FastifyReply> {
  reply.headers({ 'content-encoding': coding, 'content-type': typeByExtension(asked) ?? 'application/octet-stream' })
  if (Buffer.isBuffer(body)) return reply.send(body)
  await using file = content
  using compressor = body
  using share = new MemoryShare()
  reply.hijack()
  const response = reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders)
  await pipeline(compress(file, compressor, Math.min(BLOCK_BYTES, share.bytes / 2)), response)
  return reply
}

async function* compress(content: FileContent, compressor: Compressor, blockBytes: number): AsyncGenerator<Buffer> {
  for await (const block of content.blocks(blockBytes)) yield* await compressor.add(block)
  yield* await compressor.end()
}
