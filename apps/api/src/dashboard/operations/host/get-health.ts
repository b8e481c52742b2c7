import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerOperatorRoute } from '../../dashboard-route.ts'
import { readHealth } from '../../host/stored-health.ts'

/** `GET /health`: the last result of the checks. */
export const getHealthRoute: ApiRoute = (app, { database }) =>
  registerOperatorRoute(app, { operation: 'GET /health', schema: {}, handle: () => readHealth(database.db) })
