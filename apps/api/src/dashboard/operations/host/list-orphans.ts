import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerOperatorRoute } from '../../dashboard-route.ts'

/** `GET /orphans`: what is on the engine and nothing of this installation uses. */
export const listOrphansRoute: ApiRoute = (app, { orphans }) =>
  registerOperatorRoute(app, { operation: 'GET /orphans', schema: {}, handle: () => orphans.list() })
