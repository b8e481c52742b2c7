import { ListSandboxesQuery } from '@sandyard/dashboard-contract/sandboxes'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerTeamRoute } from '../../dashboard-route.ts'
import { readSandboxList } from './read-rows.ts'

/** `GET /sandboxes` */
export const listSandboxesRoute: ApiRoute = (app, ctx) =>
  registerTeamRoute(app, {
    operation: 'GET /sandboxes',
    schema: { querystring: ListSandboxesQuery },
    whileBlocked: true,
    handle: ({ team, query }) => readSandboxList(ctx.database.db, { team, query, limits: ctx.config.limits }),
  })
