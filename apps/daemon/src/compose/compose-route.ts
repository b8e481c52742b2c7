import type { FastifyReply, FastifyRequest } from 'fastify'
import type { IncomingMessage } from 'node:http'
import { type FileRouteDeps, getFileUser, getUserName, resolveFilePath } from '../files/file-request.ts'
import { HttpFailure } from '../files/http-failure.ts'
import { toLastByte } from '../files/to-last-byte.ts'
import { sendJson } from '../http/json-reply.ts'
import { baseName } from '../users/path-parts.ts'
import { parseComposeRequest } from './compose-request.ts'
import { findSources } from './find-sources.ts'
import { removeSources } from './remove-sources.ts'
import { writeComposed } from './write-composed.ts'

export interface ComposeDeps extends FileRouteDeps {
  /** Aborts when the daemon is about to exit. */
  readonly shutdown: AbortSignal
}

/** Four times the size of 1,024 paths of maximum length: each character may be an escape. */
const MAX_BODY_BYTES = 16 * 1024 * 1024

/**
 * POST `/files/compose` (envd.md 5.8): concatenates files in the order of the request, then removes them. The destination has its old or
 * its complete new content at any time, and the sources exist until it has the new one. A disconnect of the client does not abort it.
 */
export async function compose(request: FastifyRequest, reply: FastifyReply, deps: ComposeDeps): Promise<FastifyReply> {
  const { sourcePaths, destination: given, username } = parseComposeRequest(await readText(request.raw))
  const user = await getFileUser(deps.accounts, getUserName({ username }, deps.settings))
  const resolve = (path: string, failure: string) => resolveFilePath(path, { user, settings: deps.settings, failure })
  const destination = resolve(given, 'error resolving destination path')
  const sources = await findSources(sourcePaths, {
    destination,
    resolve: (path) => resolve(path, `error resolving source path ${JSON.stringify(path)}`),
  })
  await writeComposed(destination, sources, { owner: user, shutdown: deps.shutdown })
  await removeSources(sources)
  return sendJson(reply, { path: destination, name: baseName(destination), type: 'file' })
}

/** Reads the body. The rest of one that is too large is discarded, so that a client that is still sending gets the answer. */
async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of toLastByte(request)) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes <= MAX_BODY_BYTES) continue
    request.resume()
    throw new HttpFailure(413, `invalid request body: larger than ${MAX_BODY_BYTES} bytes`)
  }
  return Buffer.concat(chunks).toString()
}
