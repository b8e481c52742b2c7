import { SandboxParams } from '@sandyard/dashboard-contract/request-fields'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { sandboxNotFound } from '../../../sandboxes/sandbox-errors.ts'
import { registerTeamRoute } from '../../dashboard-route.ts'
import { readSandboxDetail } from './read-rows.ts'

/** `GET /sandboxes/{sandboxId}` */
export const getSandboxRoute: ApiRoute = (app, ctx) =>
  registerTeamRoute(app, {
    operation: 'GET /sandboxes/{sandboxId}',
    schema: { params: SandboxParams },
    whileBlocked: true,
    handle: async ({ team, params }) => {
      const found = await readSandboxDetail(ctx.database.db, team.id, params.sandboxId, ctx.config.retention)
      if (found === undefined) throw sandboxNotFound(params.sandboxId)
      return found
    },
  })
