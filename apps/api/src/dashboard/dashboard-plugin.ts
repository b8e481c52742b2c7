import type { FastifyPluginAsync } from 'fastify'
import type { AppContext } from '../context.ts'
import type { ApiInstance } from '../http/api-instance.ts'
import { liveRoutes } from './live/live-routes.ts'
import { operationRoutes } from './operations/operation-routes.ts'
import { assertOwnOrigin } from './own-origin.ts'
import { relayRoutes } from './relay/relay-routes.ts'
import { SECURITY_HEADERS } from './security-headers.ts'
import { addressOf } from './sessions/address-of.ts'
import { readSession } from './sessions/read-session.ts'
import { sessionRoutes } from './sessions/session-routes.ts'
import { pageRoutes } from './static/page-routes.ts'

const API_PREFIX = '/dashboard/api/'

/**
 * Everything under `/dashboard`, encapsulated: its hooks concern no other route. Order: headers, the Host and Origin checks, the session, then the routes.
 */
export const dashboardPlugin: FastifyPluginAsync<{ readonly ctx: AppContext }> = async (instance, { ctx }) => {
  const app = instance as unknown as ApiInstance
  const address = addressOf(ctx.config)
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers(SECURITY_HEADERS)
    assertOwnOrigin(request, address)
    if (request.routeOptions.url?.startsWith(API_PREFIX) !== true) return
    void reply.header('cache-control', 'no-store')
    request.dashboardSession = await readSession(ctx, request)
    request.principal = request.dashboardSession?.principal ?? null
  })
  for (const register of [...sessionRoutes, ...operationRoutes, ...relayRoutes, ...liveRoutes]) register(app, ctx)
  await app.register(pageRoutes, { ctx })
}
