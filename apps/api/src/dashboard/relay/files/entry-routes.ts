import { FileParams, FileQuery, MoveBody, PathBody } from '@sandyard/dashboard-contract/files'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerTeamRoute } from '../../dashboard-route.ts'
import { getReachable } from '../sandbox-daemon.ts'
import { listFolder, makeFolder, moveFile, removeFile, statFile } from './file-calls.ts'

/** Files of a sandbox, but for their content. */
export const entryRoutes: ApiRoute = (app, ctx) => {
  const { database } = ctx
  const parts = { database, tokenSeed: ctx.installation.tokenSeed }
  const reads = { schema: { params: FileParams, querystring: FileQuery }, whileBlocked: false } as const
  const writes = { schema: { params: FileParams, body: PathBody }, whileBlocked: false } as const
  registerTeamRoute(app, {
    operation: 'GET /sandboxes/{sandboxId}/files',
    ...reads,
    handle: async ({ team, params, query, signal }) => {
      const { daemon } = await getReachable(parts, team.id, params.sandboxId)
      return listFolder(daemon, query.path, signal)
    },
  })
  registerTeamRoute(app, {
    operation: 'GET /sandboxes/{sandboxId}/files/stat',
    ...reads,
    handle: async ({ team, params, query, signal }) => {
      const { daemon } = await getReachable(parts, team.id, params.sandboxId)
      return statFile(daemon, query.path, signal)
    },
  })
  registerTeamRoute(app, {
    operation: 'POST /sandboxes/{sandboxId}/files/folder',
    ...writes,
    handle: async ({ team, params, body, signal }) => {
      const { daemon } = await getReachable(parts, team.id, params.sandboxId)
      return makeFolder(daemon, body.path, signal)
    },
  })
  registerTeamRoute(app, {
    operation: 'POST /sandboxes/{sandboxId}/files/move',
    schema: { params: FileParams, body: MoveBody },
    whileBlocked: false,
    handle: async ({ team, params, body, signal }) => {
      const { daemon } = await getReachable(parts, team.id, params.sandboxId)
      return moveFile(daemon, body, signal)
    },
  })
  registerTeamRoute(app, {
    operation: 'POST /sandboxes/{sandboxId}/files/remove',
    ...writes,
    handle: async ({ team, params, body, signal }) => {
      const { daemon } = await getReachable(parts, team.id, params.sandboxId)
      await removeFile(daemon, body.path, signal)
      return undefined
    },
  })
}
