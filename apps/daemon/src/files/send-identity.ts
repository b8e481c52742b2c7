import type { FastifyReply, FastifyRequest } from 'fastify'
import { randomBytes } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
import { typeByExtension } from './content-type.ts'
import type { FileContent } from './file-content.ts'
import { firstHeader } from '../http/request-header.ts'
import { sendTextError } from './http-failure.ts'
import { checkPreconditions } from './preconditions.ts'
import { type Piece, pumpContent } from './pump-content.ts'
import { type ByteRange, contentRange, parseRanges } from './ranges.ts'
import { sniffContentType } from './sniff-content-type.ts'

interface SentFile {
  readonly content: FileContent
  readonly path: string
  /** The client accepts a coding and only the content was unsuitable. Compressed answers ignore conditions, so this one does too. */
  readonly ignoreConditions: boolean
}

/**
 * Answers with the file's bytes, all or the ranges asked for, as the conditions of the request have it (envd.md 5.6). Owns the file.
 *
 * @throws Error after the headers were sent; the connection is cut then
 */
export async function sendIdentity(request: FastifyRequest, reply: FastifyReply, file: SentFile): Promise<FastifyReply> {
  const { content, ignoreConditions } = file
  const verdict = ignoreConditions ? 'full' : checkPreconditions((name) => firstHeader(request.raw, name), content.mtimeSeconds)
  if (content.mtimeSeconds !== undefined) reply.header('last-modified', new Date(content.mtimeSeconds * 1000).toUTCString())
  if (verdict === 'failed' || verdict === 'not-modified') {
    await content[Symbol.asyncDispose]()
    return reply.code(verdict === 'failed' ? 412 : 304).send()
  }

  const type = typeByExtension(file.path) ?? sniffContentType(content.start)
  if (content.size === undefined) return sendPieces(reply.header('content-type', type), content, ['everything'])

  const ranges = parseRanges(verdict === 'full' ? '' : firstHeader(request.raw, 'range'), content.size)
  if (typeof ranges === 'string') {
    await content[Symbol.asyncDispose]()
    if (ranges !== 'invalid range') reply.header('content-range', `bytes */${content.size}`)
    return sendTextError(reply.removeHeader('last-modified'), 416, ranges)
  }
  reply.headers({ 'accept-ranges': 'bytes', 'content-type': type })
  return sendRanges(reply, content, { ranges, size: content.size, type })
}

interface Ranges {
  readonly ranges: readonly ByteRange[]
  readonly size: number
  readonly type: string
}

async function sendRanges(reply: FastifyReply, content: FileContent, { ranges, size, type }: Ranges): Promise<FastifyReply> {
  const [range = { start: 0, length: size }, ...more] = ranges
  if (more.length > 0) return sendByteRanges(reply, content, { ranges, size, type })
  if (ranges.length > 0) reply.code(206).header('content-range', contentRange(range, size))
  if (content.isWhole) return reply.send(content.start.subarray(range.start, range.start + range.length))
  reply.header('content-length', range.length)
  return sendPieces(reply, content, [range])
}

/** Several ranges are the parts of a `multipart/byteranges` body. */
function sendByteRanges(reply: FastifyReply, content: FileContent, { ranges, size, type }: Ranges): Promise<FastifyReply> {
  const boundary = randomBytes(30).toString('hex')
  const pieces = ranges.flatMap((range, index): (Buffer | ByteRange)[] => {
    const newline = index === 0 ? '' : '\r\n'
    const head = Buffer.from(`${newline}--${boundary}\r\nContent-Range: ${contentRange(range, size)}\r\nContent-Type: ${type}\r\n\r\n`)
    return [head, content.isWhole ? content.start.subarray(range.start, range.start + range.length) : range]
  })
  pieces.push(Buffer.from(`\r\n--${boundary}--\r\n`))
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  reply.code(206).headers({ 'content-type': `multipart/byteranges; boundary=${boundary}`, 'content-length': length })
  return sendPieces(reply, content, pieces)
}

/** Writes to the response directly: neither Fastify nor `pipeline` reports when a chunk is written and its buffer is free. */
async function sendPieces(reply: FastifyReply, content: FileContent, pieces: readonly Piece[]): Promise<FastifyReply> {
  reply.hijack()
  const response = reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders)
  try {
    await pumpContent(content, pieces, response)
    response.end()
  } catch (error) {
    response.destroy()
    throw error
  }
  return reply
}
