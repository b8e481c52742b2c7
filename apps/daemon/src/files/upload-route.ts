import { AppError } from '@sandyard/kit/errors/app-error'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { getFileUser, getPermittedQuery, getUserName, resolveFilePath, type FileRouteDeps } from './file-request.ts'
import { type MediaType, parseMediaType } from './media-type.ts'
import { parseMetadataHeaders } from './metadata-headers.ts'
import { RequestBody } from './request-body.ts'
import { type Upload, uploadParts } from './upload-parts.ts'
import { writeFile, type WrittenFile } from './write-file.ts'

/** POST `/files` (envd.md 5.7): answers with the written files in the order of the request. A later failure does not remove files that were written. */
export async function upload(request: FastifyRequest, reply: FastifyReply, deps: FileRouteDeps): Promise<FastifyReply> {
  const { accounts, settings } = deps
  using requestBody = new RequestBody(request.raw)
  const query = getPermittedQuery(request, settings, 'write')
  const userName = getUserName(query, settings)
  const body = await requestBody.decoded()
  const user = await getFileUser(accounts, userName)
  const metadata = parseMetadataHeaders(request.raw.rawHeaders)
  const whole = await requestBody.takeWhole()
  const files = await write({
    body: whole ?? body,
    mediaType: getMediaType(request.headers['content-type'] ?? ''),
    path: query.path,
    resolve: (path) => resolveFilePath(path, { user, settings, failure: 'error resolving path' }),
    owner: user,
    metadata,
    contentLength: Number(request.headers['content-length'] ?? 0),
  })
  return reply.send(files)
}

/** The two forms that a body may have. */
function getMediaType(header: string): MediaType {
  const mediaType = parseMediaType(header)
  if (mediaType?.type === 'application/octet-stream' || mediaType?.type.startsWith('multipart/') === true) return mediaType
  throw new AppError('invalid_argument', `unsupported content type: ${header}, expected multipart/form-data or application/octet-stream`)
}

async function write(upload: Upload): Promise<WrittenFile[]> {
  if (upload.mediaType.type.startsWith('multipart/')) return uploadParts(upload)
  if (upload.path === undefined) throw new AppError('invalid_argument', 'path query parameter is required for raw body upload')
  return [await writeFile(upload.resolve(upload.path), upload.body, upload)]
}
