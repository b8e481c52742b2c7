import { DismissBody } from '@sandyard/dashboard-contract/host'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerOperatorRoute } from '../../dashboard-route.ts'
import { dismissCheck, readHealth } from '../../host/stored-health.ts'
import { tellDashboard } from '../../tell-dashboard.ts'

/** `POST /health/dismiss`: hides a finding for a time, for all operators. */
export const dismissCheckRoute: ApiRoute = (app, { database: { db } }) =>
  registerOperatorRoute(app, {
    operation: 'POST /health/dismiss',
    schema: { body: DismissBody },
    handle: async ({ body }) => {
      await dismissCheck(db, body)
      await tellDashboard(db, { kind: 'host', id: 'health', teamId: undefined })
      return readHealth(db)
    },
  })
