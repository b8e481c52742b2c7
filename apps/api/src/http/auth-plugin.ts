import fp from 'fastify-plugin'
import type { FastifyRequest } from 'fastify'
import type { AuthSet } from '@sandyard/api-contract/operation'
import { isAppError } from '@sandyard/kit/errors/app-error'
import { noteTeam } from '@sandyard/kit/tracing/scope'
import { teamBlocked } from '../auth/auth-errors.ts'
import { authenticate, presentsCredential } from '../auth/authenticate.ts'
import { readCredentials } from '../auth/credentials.ts'
import { checkScope } from '../auth/key-scopes.ts'
import type { Principal } from '../auth/principal.ts'
import type { SchemeParts } from '../auth/schemes.ts'
import type { RequestLimits } from './rate-limit.ts'

/** Routes that are not part of the interface and need no credentials. */
const OPEN: ReadonlySet<string> = new Set(['/ready', '/openapi.json', '/tls/ask'])
const OPEN_PREFIXES = ['/docs', '/.well-known']

/** A right that is withdrawn ends within this time, also for a request whose body comes later than its head. */
const AUTHENTICATES_AGAIN_AFTER_MS = 1000

export interface AuthPluginOptions {
  readonly parts: Omit<SchemeParts, 'beforeLookUp'>
  readonly limits: RequestLimits
  /** Default: a second. */
  readonly authenticatesAgainAfterMs?: number | undefined
  /** The caller of a request that comes with another proof than the headers of the interface; undefined for all others. */
  readonly principalOf?: ((request: FastifyRequest, auth: Exclude<AuthSet, 'none'>) => Promise<Principal> | undefined) | undefined
}

/**
 * Authenticates each request and counts it against the limit of its operation. Both happen before the body is read: an unauthenticated
 * request with an invalid body gets the authentication error (control-plane.md 1.3), and invalid requests count as well. A limited key is
 * refused by operations outside its scope, and a blocked team by those that neither read nor delete. A request whose body came late is authenticated again.
 */
export const authPlugin = fp<AuthPluginOptions>(
  async (app, options) => {
    const { authenticatesAgainAfterMs = AUTHENTICATES_AGAIN_AFTER_MS } = options
    const checkedAt = new WeakMap<FastifyRequest, number>()
    app.decorateRequest('principal', null)
    app.addHook('onRoute', ({ method, url, config }) => {
      if (config?.operation === undefined && config?.guardsItself !== true && !isOpen(url)) {
        throw new Error(`${String(method)} ${url} has no operation, so it would need no credentials`)
      }
    })
    app.addHook('onRequest', async (request, reply) => {
      const { operation } = request.routeOptions.config
      try {
        if (operation === undefined || operation.auth === 'none') return
        const principal = await getPrincipal(request, operation.auth, options)
        request.principal = principal
        if (principal.team !== undefined) noteTeam(principal.team.id)
        checkScope(principal.scope, operation)
        checkedAt.set(request, performance.now())
      } finally {
        options.limits.count(request, reply)
      }
    })
    // With a body that is complete, and before its validation: who may no longer call gets no other error.
    app.addHook('preValidation', async (request) => {
      const { operation } = request.routeOptions.config
      const at = checkedAt.get(request)
      if (operation === undefined || operation.auth === 'none' || at === undefined) return
      if (performance.now() - at < authenticatesAgainAfterMs) return
      request.principal = await getPrincipal(request, operation.auth, options)
      checkScope(request.principal.scope, operation)
    })
    // After validation and before any look-up (control-plane.md 1.10).
    app.addHook('preHandler', async (request) => {
      const { operation } = request.routeOptions.config
      const team = request.principal?.team
      // Routes without an operation check it themselves.
      const isAllowed = operation === undefined || operation.whileBlocked === true
      if (team?.isBlocked === true && !isAllowed) throw teamBlocked(team.blockedReason)
    })
  },
  { name: 'auth' },
)

function isOpen(url: string): boolean {
  return OPEN.has(url) || OPEN_PREFIXES.some((prefix) => url === prefix || url.startsWith(`${prefix}/`))
}

/** @throws AppError of `authenticate`; `resource_exhausted` for an address with too many refused credentials */
async function getPrincipal(
  request: FastifyRequest,
  auth: Exclude<AuthSet, 'none'>,
  { parts, limits, principalOf }: AuthPluginOptions,
): Promise<Principal> {
  const other = principalOf?.(request, auth)
  if (other !== undefined) return other
  const credentials = readCredentials(request.headers)
  try {
    return await authenticate(auth, credentials, { ...parts, beforeLookUp: () => limits.assertMayTry(request) })
  } catch (err) {
    if (isAppError(err, 'unauthenticated') && presentsCredential(auth, credentials)) limits.countFailure(request)
    throw err
  }
}
