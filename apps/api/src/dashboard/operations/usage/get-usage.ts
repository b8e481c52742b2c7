import { UsageQuery } from '@sandyard/dashboard-contract/usage'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerTeamRoute } from '../../dashboard-route.ts'
import { readUsage } from './read-usage.ts'

/** `GET /usage` */
export const getUsageRoute: ApiRoute = (app, ctx) =>
  registerTeamRoute(app, {
    operation: 'GET /usage',
    schema: { querystring: UsageQuery },
    whileBlocked: true,
    handle: ({ team, query }) => readUsage(ctx.database.db, team, query),
  })
