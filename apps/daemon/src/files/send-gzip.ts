import type { FastifyReply } from 'fastify'
import { promisify } from 'node:util'
import { createGzip, gzip } from 'node:zlib'
import { typeByExtension } from './content-type.ts'
import type { FileContent } from './file-content.ts'
import { pumpContent } from './pump-content.ts'

/** Every download of a usual client is compressed, mostly for a network that is faster than the compressor: speed counts. */
const LEVEL = 1

const gzipWhole = promisify(gzip)

/**
 * Answers with the compressed file: no length, ranges or date, since those would be of other bytes (envd.md 5.6). Takes the file over.
 *
 * @param asked the path as the request has it, which tells the type
 */
export async function sendGzip(reply: FastifyReply, content: FileContent, asked: string): Promise<FastifyReply> {
  reply.headers({ 'content-encoding': 'gzip', 'content-type': typeByExtension(asked) ?? 'application/octet-stream' })
  if (content.isWhole) return reply.send(await gzipWhole(content.start, { level: LEVEL }))
  const compressor = createGzip({ level: LEVEL })
  pumpContent(content, ['everything'], compressor).then(
    () => compressor.end(),
    (error: Error) => compressor.destroy(error),
  )
  return reply.send(compressor)
}
