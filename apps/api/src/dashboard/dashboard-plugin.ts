import type { FastifyPluginAsync } from 'fastify'
import type { AppContext } from '../context.ts'
import type { ApiInstance } from '../http/api-instance.ts'
import { liveRoutes } from './live/live-routes.ts'
import { operationRoutes } from './operations/operation-routes.ts'
import { relayRoutes } from './relay/relay-routes.ts'

/**
 * Everything under `/dashboard`, encapsulated: its hooks concern no other route. Order: headers, the Host and Origin checks, the session, then the routes.
 */
export const dashboardPlugin: FastifyPluginAsync<{ readonly ctx: AppContext }> = async (instance, { ctx }) => {
  const app = instance as unknown as ApiInstance
  app.decorateRequest('dashboardSession', null)
  for (const register of [...operationRoutes, ...relayRoutes, ...liveRoutes]) register(app, ctx)
}
