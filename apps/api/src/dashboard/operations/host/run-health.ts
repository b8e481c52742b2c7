import { RunHealthBody } from '@sandyard/dashboard-contract/host'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerOperatorRoute } from '../../dashboard-route.ts'
import { readHealth } from '../../host/stored-health.ts'

/** `POST /health/run`: begins a run of the checks on this server. */
export const runHealthRoute: ApiRoute = (app, { database, health }) =>
  registerOperatorRoute(app, {
    operation: 'POST /health/run',
    schema: { body: RunHealthBody },
    handle: async ({ body, reply }) => {
      await health.start(body.deep === true)
      void reply.code(202)
      return readHealth(database.db)
    },
  })
