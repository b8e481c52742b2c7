import { AppError } from '@sandyard/kit/errors/app-error'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { BigIntStats } from 'node:fs'
import { logFileFailure } from '../filesystem/log-file-failure.ts'
import { lookAt } from '../sys/cached-stat.ts'
import { errnoCode, failedCall } from '../sys/errno-text.ts'
import { pathArgument } from '../users/path-bytes.ts'
import { baseName } from '../users/path-parts.ts'
import { acceptsIdentity, chooseCoding, type ContentCoding, demandsCoding } from './accept-encoding.ts'
import { inlineDisposition } from './content-disposition.ts'
import { FileContent, ReadFailure } from './file-content.ts'
import { firstHeader } from '../http/request-header.ts'
import { type FileRouteDeps, getFileUser, getPermittedQuery, getUserName, resolveFilePath } from './file-request.ts'
import { HttpFailure } from './http-failure.ts'
import { prepareCompression, sendCompressed } from './send-compressed.ts'
import { sendIdentity } from './send-identity.ts'

/** GET `/files` (envd.md 5.6): one file, its bytes compressed, in parts or as they are. */
export async function download(request: FastifyRequest, reply: FastifyReply, deps: FileRouteDeps): Promise<FastifyReply> {
  const { accounts, settings } = deps
  const query = getPermittedQuery(request, settings, 'read')
  const user = await getFileUser(accounts, getUserName(query, settings))
  const asked = query.path ?? ''
  const path = resolveFilePath(asked, { user, settings, failure: `error expanding and resolving path '${asked}'` })
  const stats = await getFileStats(path)
  const coding = negotiateCoding(request, reply)
  const content = await openContent(path, stats)
  try {
    reply.header('content-disposition', inlineDisposition(baseName(path)))
    if (coding === 'identity') return await sendIdentity(request, reply, { content, path, ignoreConditions: false })
    const header = firstHeader(request.raw, 'accept-encoding')
    const wish = { coding, isDemanded: demandsCoding(header), acceptsIdentity: acceptsIdentity(header) }
    const body = await prepareCompression(content, wish)
    if (body === undefined) return await sendIdentity(request, reply, { content, path, ignoreConditions: true })
    return await sendCompressed(reply, { content, body, coding, asked })
  } catch (error) {
    await content[Symbol.asyncDispose]()
    if (!reply.sent) throw error instanceof ReadFailure ? unreadable(path, error) : error
    // The headers are sent, so the connection was cut. A client that disconnected is not a failure.
    if (error instanceof ReadFailure) logFileFailure(deps.log, 'GET /files', error)
    return reply
  }
}

function unreadable(path: string, { cause }: ReadFailure): AppError {
  return new AppError('internal', `error reading file '${path}': ${failedCall('read', path, cause)}`, { cause })
}

async function getFileStats(path: string): Promise<BigIntStats> {
  const stats = await lookAt(pathArgument(path), { follow: true }).catch((error: unknown) => {
    if (errnoCode(error) === 'ENOENT') throw new AppError('not_found', `path '${path}' does not exist`, { cause: error })
    throw new AppError('internal', `error checking if path exists '${path}': ${failedCall('stat', path, error)}`, { cause: error })
  })
  if (stats.isDirectory()) throw new AppError('invalid_argument', `path '${path}' is a directory`)
  // A read from these may block forever.
  if (stats.isFIFO() || stats.isSocket()) throw new AppError('invalid_argument', `path '${path}' is not a regular file`)
  return stats
}

/** Ranges and conditions refer to the identity bytes, so they force identity (envd.md 5.6). */
function negotiateCoding({ raw }: FastifyRequest, reply: FastifyReply): ContentCoding {
  const header = firstHeader(raw, 'accept-encoding')
  const coding = chooseCoding(header)
  if (coding === undefined) {
    throw new HttpFailure(406, 'error parsing Accept-Encoding: no acceptable encoding found, supported: [gzip]')
  }
  reply.header('vary', 'Accept-Encoding')
  const names = ['range', 'if-modified-since', 'if-none-match', 'if-range'] as const
  if (names.every((name) => firstHeader(raw, name) === '')) return coding
  if (!acceptsIdentity(header)) throw new HttpFailure(406, 'identity encoding not acceptable for Range or conditional request')
  return 'identity'
}

async function openContent(path: string, stats: BigIntStats): Promise<FileContent> {
  try {
    return await FileContent.open(path, stats)
  } catch (error) {
    throw new AppError('internal', `error opening file '${path}': ${failedCall('open', path, error)}`, { cause: error })
  }
}
