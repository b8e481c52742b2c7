import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { stderr } from 'node:process'
import { firstHeader } from '../http/request-header.ts'
import { isInstanceKey } from '../init/instance-key.ts'
import type { ContentCall } from './content-call.ts'
import { ContentFailure } from './content-failure.ts'
import { ContentQuery } from './content-query.ts'
import { listDirectory } from './list-directory.ts'
import { makeDirectory } from './make-directory.ts'
import { changeEntry, deleteEntry, statEntry } from './path-routes.ts'
import { readFile } from './read-file.ts'
import { sendJson } from './send-json.ts'
import { writeFile } from './write-file.ts'

export const VOLUME_KEY_HEADER = 'x-sandyard-volume-key'

/** Idle connections of the API stay open between its requests. */
const KEEP_ALIVE_MS = 60_000

type ContentRoute = (call: ContentCall) => Promise<void>

/** All operations of a volume's content, with the query, bodies and answers of control-plane.md 15.4. */
const ROUTES: Readonly<Record<string, Readonly<Record<string, ContentRoute>>>> = {
  '/path': { GET: statEntry, PATCH: changeEntry, DELETE: deleteEntry },
  '/dir': { GET: listDirectory, POST: makeDirectory },
  '/file': { GET: readFile, PUT: writeFile },
}

export interface VolumeServerOptions {
  /** The digest of the key (`secretDigest`). */
  readonly digest: string
  readonly idleMs: number
  /** Called after `idleMs` without a request with the key. */
  readonly end: () => void
}

/** Serves the files below the root of this process to holders of the key. Transfers have no time limit, but may not stall. */
export function createVolumeServer({ digest, idleMs, end }: VolumeServerOptions): Server {
  let inFlight = 0
  const idle = setTimeout(() => (inFlight === 0 ? end() : idle.refresh()), idleMs)
  return createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 }, (request, response) => {
    if (!isInstanceKey(firstHeader(request, VOLUME_KEY_HEADER), digest)) {
      return answerFailure(response, new ContentFailure(401, 'UNAUTHENTICATED', 'the key of the volume is missing or wrong'))
    }
    inFlight += 1
    response.once('close', () => {
      inFlight -= 1
      idle.refresh()
    })
    serve(request, response).catch((error: unknown) => answerFailure(response, error))
  })
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url = '/', method = '' } = request
  const methods = ROUTES[url.split('?', 1)[0] ?? '']
  if (methods === undefined) throw new ContentFailure(404, 'PATH_NOT_FOUND', 'there is no such operation')
  const route = methods[method]
  if (route === undefined) {
    response.setHeader('allow', Object.keys(methods).join(', '))
    throw new ContentFailure(405, 'METHOD_NOT_ALLOWED', `${method} is not allowed here`)
  }
  await route({ request, response, query: new ContentQuery(url) })
}

/** An answer that has begun cannot become an error: its connection ends, so that the client does not take it for complete. */
function answerFailure(response: ServerResponse, error: unknown): void {
  const isOurs = error instanceof ContentFailure
  if (!isOurs && !response.destroyed) stderr.write(`unexpected failure: ${error instanceof Error ? error.stack : String(error)}\n`)
  if (response.headersSent || response.destroyed) return void response.destroy()
  const { status, code, message } = isOurs ? error : new ContentFailure(500, 'INTERNAL', 'the operation failed')
  sendJson(response, status, { code, message })
}
