import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { contentRange, parseRanges } from '../files/ranges.ts'
import { pathArgument } from '../users/path-bytes.ts'
import { attempt, ContentFailure, invalidRequest } from './content-failure.ts'
import type { ContentCall } from './content-call.ts'
import { STALLED_MS } from './stalled.ts'

const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK
const CHUNK_BYTES = 256 * 1024

/** `GET /file`: the content with the size at open, or one range of it. Several ranges get the whole file. */
export async function readFile({ request, response, query: { path } }: ContentCall): Promise<void> {
  await using file = await attempt('read', path, () => open(pathArgument(path), FLAGS))
  const stats = await file.stat()
  if (!stats.isFile()) throw invalidRequest(`failed to read: the path is ${stats.isDirectory() ? 'a directory' : 'not a regular file'}`)
  const { size } = stats
  // A condition on a range (`If-Range`) cannot hold: the files have no validators.
  const header = request.headers['if-range'] === undefined ? (request.headers.range ?? '') : ''
  const ranges = parseRanges(header, size)
  if (typeof ranges === 'string') {
    response.setHeader('content-range', `bytes */${size}`)
    throw new ContentFailure(416, 'RANGE_NOT_SATISFIABLE', ranges)
  }
  const [range] = ranges.length === 1 ? ranges : []
  const { start, length } = range ?? { start: 0, length: size }
  response.writeHead(range === undefined ? 200 : 206, {
    'content-type': 'application/octet-stream',
    'content-length': length,
    'accept-ranges': 'bytes',
    ...(range === undefined ? {} : { 'content-range': contentRange(range, size) }),
  })
  if (length === 0) return void response.end()
  request.socket.setTimeout(STALLED_MS)
  const content = file.createReadStream({ start, end: start + length - 1, autoClose: false, highWaterMark: CHUNK_BYTES })
  await pipeline(content, response, { end: false })
  // The file has become shorter meanwhile: the client must not take the answer for complete.
  if (content.bytesRead < length) response.destroy()
  else response.end()
}
