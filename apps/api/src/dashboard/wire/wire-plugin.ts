import fp from 'fastify-plugin'
import type { FastifyRequest } from 'fastify'
import type { AuthSet } from '@sandyard/api-contract/operation'
import { AppError } from '@sandyard/kit/errors/app-error'
import { teamBanned } from '../../auth/auth-errors.ts'
import type { Principal } from '../../auth/principal.ts'
import type { AppContext } from '../../context.ts'
import { sendErrorReply, toNoRouteReply } from '../../http/error-reply.ts'
import { assertOwnOrigin } from '../own-origin.ts'
import { SECURITY_HEADERS } from '../security-headers.ts'
import { addressOf } from '../sessions/address-of.ts'
import { noTeamYet, notLoggedIn } from '../sessions/dashboard-session.ts'
import { readSession } from '../sessions/read-session.ts'
import { isWireRequest } from './wire-requests.ts'
import { withoutTokens } from './without-tokens.ts'

/** What a session may call. The others are about users, whom a session does not name; `listTeams` would make keys (control-plane.md 5.2). */
const SETS: ReadonlySet<AuthSet> = new Set(['T', 'TU', 'K', 'PT'])

/** Requests through `/dashboard/api/wire`: they need a session instead of credentials. Registered before the authentication. */
export const wirePlugin = fp<{ readonly ctx: AppContext }>(
  async (app, { ctx }) => {
    const address = addressOf(ctx.config)
    app.addHook('onRequest', async (request, reply) => {
      if (!isWireRequest(request.raw)) return undefined
      void reply.headers({ ...SECURITY_HEADERS, 'cache-control': 'no-store' })
      assertOwnOrigin(request, address)
      const { operation } = request.routeOptions.config
      if (operation === undefined) return sendErrorReply(reply, toNoRouteReply(request))
      // The others are authenticated as all requests are, and again when their bodies come late.
      if (operation.auth === 'none' && (await readSession(ctx, request)) === null) throw notLoggedIn()
      return undefined
    })
    app.addHook('preSerialization', async (request, _reply, payload) => {
      const { operation } = request.routeOptions.config
      return isWireRequest(request.raw) && operation !== undefined ? withoutTokens(payload, operation.tag) : payload
    })
  },
  { name: 'wire' },
)

type PrincipalOf = (request: FastifyRequest, auth: Exclude<AuthSet, 'none'>) => Promise<Principal> | undefined

/** As whom a request through the dashboard runs; undefined for other requests. The session is read anew in each call. */
export function wirePrincipal(ctx: AppContext): PrincipalOf {
  return (request, auth) => (isWireRequest(request.raw) ? readPrincipal(ctx, request, auth) : undefined)
}

/**
 * @throws AppError `unauthenticated` without a session; `permission_denied` for an operation that sessions may not call; `failed_precondition`
 * without a team
 */
async function readPrincipal(ctx: AppContext, request: FastifyRequest, auth: Exclude<AuthSet, 'none'>): Promise<Principal> {
  const session = await readSession(ctx, request)
  if (session === null) throw notLoggedIn()
  const { role, principal, sessionId, team } = session
  if (auth === 'A') {
    if (role !== 'operator') throw new AppError('permission_denied', 'Only operators may do this: log in with the admin token')
    return { via: 'admin', dashboardSessionId: sessionId }
  }
  if (!SETS.has(auth)) throw new AppError('permission_denied', 'The dashboard may not call this operation')
  if (team === undefined) throw noTeamYet()
  if (team.isBanned) throw teamBanned()
  return principal
}
