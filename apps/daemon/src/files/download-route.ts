import { AppError } from '@sandyard/kit/errors/app-error'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { BigIntStats } from 'node:fs'
import { errnoCode, failedCall } from '../sys/errno-text.ts'
import { baseName } from '../users/path-parts.ts'
import { acceptsIdentity, chooseCoding, type ContentCoding } from './accept-encoding.ts'
import { inlineDisposition } from './content-disposition.ts'
import { FileContent } from './file-content.ts'
import { firstHeader } from '../http/first-header.ts'
import { type FileRouteDeps, getFileUser, getPermittedQuery, getUserName, resolveFilePath } from './file-request.ts'
import { HttpFailure } from './http-failure.ts'
import { sendGzip } from './send-gzip.ts'
import { sendIdentity } from './send-identity.ts'
import { statTarget } from './stat-target.ts'

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
    return await (coding === 'gzip' ? sendGzip(reply, content, asked) : sendIdentity(request, reply, { content, path }))
  } catch (error) {
    await content[Symbol.asyncDispose]()
    throw error
  }
}

async function getFileStats(path: string): Promise<BigIntStats> {
  const stats = await statTarget(path).catch((error: unknown) => {
    if (errnoCode(error) === 'ENOENT') throw new AppError('not_found', `path '${path}' does not exist`, { cause: error })
    throw new AppError('internal', `error checking if path exists '${path}': ${failedCall('stat', path, error)}`, { cause: error })
  })
  if (stats.isDirectory()) throw new AppError('invalid_argument', `path '${path}' is a directory`)
  // Nothing says when the bytes of these end, if they ever begin.
  if (stats.isFIFO() || stats.isSocket()) throw new AppError('invalid_argument', `path '${path}' is not a regular file`)
  return stats
}

/** Parts of a file and conditions on it speak of its bytes as they are. */
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
