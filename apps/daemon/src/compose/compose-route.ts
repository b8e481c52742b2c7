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

/** Four times what 1,024 paths of the greatest length have, since each character may be written as an escape. */
const MAX_BODY_BYTES = 16 * 1024 * 1024

/**
 * POST `/files/compose` (envd.md 5.8): puts files together in the order of the request, and removes them. The destination has its old
 * content or all of the new one at every instant, and the sources stay until it has. A client that goes away changes nothing.
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

/** Reads the body. What is too much of it runs out unread, so that the answer reaches a client that is still sending. */
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
