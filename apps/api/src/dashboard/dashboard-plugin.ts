import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { COOKIES_CLEANED_HEADER } from '@sandyard/dashboard-contract/headers'
import { noteTeam } from '@sandyard/kit/tracing/scope'
import type { AppContext } from '../context.ts'
import type { ApiInstance } from '../http/api-instance.ts'
import { liveRoutes } from './live/live-routes.ts'
import { operationRoutes } from './operations/operation-routes.ts'
import { assertOwnOrigin, isSecure } from './own-origin.ts'
import { relayRoutes } from './relay/relay-routes.ts'
import { SECURITY_HEADERS } from './security-headers.ts'
import { addressOf } from './sessions/address-of.ts'
import { getSession } from './sessions/dashboard-session.ts'
import { readSession } from './sessions/read-session.ts'
import { sessionRoutes } from './sessions/session-routes.ts'
import { removalsOfStrayCookies } from './sessions/stray-cookies.ts'
import { pageRoutes } from './static/page-routes.ts'

const API_PREFIX = '/dashboard/api/'
const READS_AGAIN_AFTER_MS = 1000

/**
 * Everything under `/dashboard`, encapsulated: its hooks concern no other route. Order: headers, the Host and Origin checks, the session, then the routes.
 */
export const dashboardPlugin: FastifyPluginAsync<{ readonly ctx: AppContext }> = async (instance, { ctx }) => {
  const app = instance as unknown as ApiInstance
  const address = addressOf(ctx.config)
  const readAt = new WeakMap<FastifyRequest, number>()
  const read = async (request: FastifyRequest): Promise<void> => {
    readAt.set(request, performance.now())
    request.dashboardSession = await readSession(ctx, request)
    request.principal = request.dashboardSession?.principal ?? null
    if (request.principal?.team !== undefined) noteTeam(request.principal.team.id)
  }
  app.decorateRequest('dashboardSession', null)
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers(SECURITY_HEADERS)
    assertOwnOrigin(request, address)
    if (request.routeOptions.url?.startsWith(API_PREFIX) !== true) return
    void reply.header('cache-control', 'no-store')
    const removals = removalsOfStrayCookies(request, isSecure(request, address))
    if (removals.length > 0) void reply.headers({ 'set-cookie': removals, [COOKIES_CLEANED_HEADER]: 'yes' })
    await read(request)
  })
  // As in the interface, a right that was withdrawn while the body came has ended.
  app.addHook('preValidation', async (request) => {
    const at = readAt.get(request)
    if (at === undefined || request.dashboardSession === null || performance.now() - at < READS_AGAIN_AFTER_MS) return
    await read(request)
    getSession(request)
  })
  for (const register of [...sessionRoutes, ...operationRoutes, ...relayRoutes, ...liveRoutes]) register(app, ctx)
  await app.register(pageRoutes, { ctx })
}
