import { FileParams, FileQuery, WriteQuery } from '@sandyard/dashboard-contract/files'
import { FILE_TIMEOUT_MS } from '@sandyard/dashboard-contract/limits'
import { getFile } from '../../../daemon/daemon-files.ts'
import type { ApiInstance, ApiRoute } from '../../../http/api-instance.ts'
import { liftBodyDeadline } from '../../../http/body-deadline.ts'
import { streamBodies } from '../../../http/caps/streamed-bodies.ts'
import { registerTeamRoute } from '../../dashboard-route.ts'
import { toRelayError } from '../relay-error.ts'
import { getReachable } from '../sandbox-daemon.ts'
import { checkPath } from './file-calls.ts'
import { sendContent } from './send-content.ts'
import { writeFile } from './write-file.ts'

/** The content of files. */
export const contentRoutes: ApiRoute = (app, ctx) => {
  const { database } = ctx
  const parts = { database, tokenSeed: ctx.installation.tokenSeed }
  const slots = ctx.transfers
  registerTeamRoute(app, {
    operation: 'GET /sandboxes/{sandboxId}/files/content',
    schema: { params: FileParams, querystring: FileQuery },
    whileBlocked: false,
    handlerTimeout: FILE_TIMEOUT_MS,
    handle: async ({ team, params, query, reply, signal }) => {
      slots.take(team.id, reply.raw)
      const path = checkPath(query.path)
      const { daemon } = await getReachable(parts, team.id, params.sandboxId)
      try {
        const file = await getFile(daemon, path, signal)
        const bytes = Number(file.headers['content-length'] ?? NaN)
        return sendContent(reply, {
          name: path.slice(path.lastIndexOf('/') + 1),
          body: file,
          bytes: Number.isNaN(bytes) ? undefined : bytes,
        })
      } catch (err) {
        signal.throwIfAborted()
        throw toRelayError(err)
      }
    },
  })
  void app.register(async (scope) => {
    const raw = scope as unknown as ApiInstance
    // The handler reads the body after it has found the sandbox.
    streamBodies(raw)
    registerTeamRoute(raw, {
      operation: 'PUT /sandboxes/{sandboxId}/files/content',
      schema: { params: FileParams, querystring: WriteQuery },
      whileBlocked: false,
      handlerTimeout: FILE_TIMEOUT_MS,
      handle: async ({ team, params, query, request, reply, signal }) => {
        slots.take(team.id, reply.raw)
        const { daemon } = await getReachable(parts, team.id, params.sandboxId)
        liftBodyDeadline(request.raw)
        return writeFile(daemon, { path: checkPath(query.path), version: query.version, body: request.raw }, signal)
      },
    })
  })
}
