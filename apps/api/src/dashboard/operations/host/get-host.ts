import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerOperatorRoute } from '../../dashboard-route.ts'
import { readHostView } from './read-host-view.ts'

/** `GET /host`: the figures of this server's host, and of the installation. */
export const getHostRoute: ApiRoute = (app, ctx) =>
  registerOperatorRoute(app, { operation: 'GET /host', schema: {}, handle: () => readHostView(ctx) })
