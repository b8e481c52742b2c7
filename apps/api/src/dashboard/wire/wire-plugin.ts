import fp from 'fastify-plugin'
import type { FastifyRequest } from 'fastify'
import type { AuthSet } from '@sandyard/api-contract/operation'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Principal } from '../../auth/principal.ts'
import type { AppContext } from '../../context.ts'
import { sendErrorReply, toNoRouteReply } from '../../http/error-reply.ts'
import { assertOwnOrigin } from '../own-origin.ts'
import { SECURITY_HEADERS } from '../security-headers.ts'
import { addressOf } from '../sessions/address-of.ts'
import { getSession } from '../sessions/dashboard-session.ts'
import { readSession } from '../sessions/read-session.ts'
import { isWireRequest } from './wire-requests.ts'
import { withoutTokens } from './without-tokens.ts'

/** What a session may call. The others are about users, whom a session does not name; `listTeams` would make keys (control-plane.md 5.2). */
const SETS: ReadonlySet<AuthSet> = new Set(['T', 'TU', 'K', 'PT'])

/** Requests through `/dashboard/api/wire`: they need a session instead of credentials. Registered before the authentication. */
export const wirePlugin = fp<{ readonly ctx: AppContext }>(
  async (app, { ctx }) => {
    const address = addressOf(ctx.config)
    app.decorateRequest('dashboardSession', null)
    app.addHook('onRequest', async (request, reply) => {
      if (!isWireRequest(request.raw)) return undefined
      void reply.headers({ ...SECURITY_HEADERS, 'cache-control': 'no-store' })
      assertOwnOrigin(request, address)
      if (request.routeOptions.config.operation === undefined) return sendErrorReply(reply, toNoRouteReply(request))
      request.dashboardSession = await readSession(ctx, request)
      getSession(request)
      return undefined
    })
    app.addHook('preSerialization', async (request, _reply, payload) => {
      const { operation } = request.routeOptions.config
      return isWireRequest(request.raw) && operation !== undefined ? withoutTokens(payload, operation.tag) : payload
    })
  },
  { name: 'wire' },
)

/**
 * As whom a request through the dashboard runs; undefined for other requests.
 *
 * @throws AppError `permission_denied` for an operation that sessions may not call; `failed_precondition` without a team
 */
export function wirePrincipal(request: FastifyRequest, auth: Exclude<AuthSet, 'none'>): Principal | undefined {
  if (!isWireRequest(request.raw)) return undefined
  const { role, principal, sessionId, team } = getSession(request)
  if (auth === 'A') {
    if (role !== 'operator') throw new AppError('permission_denied', 'Only operators may do this: log in with the admin token')
    return { via: 'admin', dashboardSessionId: sessionId }
  }
  if (!SETS.has(auth)) throw new AppError('permission_denied', 'The dashboard may not call this operation')
  if (team === undefined) throw new AppError('failed_precondition', 'There is no team yet: create one first')
  if (team.isBanned) throw new AppError('permission_denied', 'team is banned')
  return principal
}
