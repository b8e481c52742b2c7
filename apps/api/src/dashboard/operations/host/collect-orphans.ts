import { CollectBody } from '@sandyard/dashboard-contract/host'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerOperatorRoute } from '../../dashboard-route.ts'
import { tellDashboard } from '../../tell-dashboard.ts'

/** `POST /orphans/collect`: removes them. */
export const collectOrphansRoute: ApiRoute = (app, { orphans, database }) =>
  registerOperatorRoute(app, {
    operation: 'POST /orphans/collect',
    schema: { body: CollectBody },
    handle: async ({ body, signal }) => {
      const collected = await orphans.collect({ ...body, signal })
      if (!body.dryRun) await tellDashboard(database.db, { kind: 'host', id: 'orphans', teamId: undefined })
      return collected
    },
  })
