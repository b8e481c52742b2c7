import fp from 'fastify-plugin'
import { isAppError } from '@sandyard/kit/errors/app-error'
import { authenticate } from '../auth/authenticate.ts'
import { readCredentials } from '../auth/credentials.ts'
import type { SchemeParts } from '../auth/schemes.ts'
import type { RequestLimits } from './rate-limit.ts'

/** What is not part of the interface and needs no credentials. */
const OPEN: ReadonlySet<string> = new Set(['/ready', '/openapi.json'])

export interface AuthPluginOptions {
  readonly parts: Omit<SchemeParts, 'beforeLookUp'>
  readonly limits: RequestLimits
}

/**
 * Finds out who asks before a body is read, so that an unauthenticated request with an invalid body is told the former
 * (control-plane.md 1.3). Refused credentials count for the client's address.
 */
export const authPlugin = fp<AuthPluginOptions>(
  async (app, { parts, limits }) => {
    app.decorateRequest('principal', null)
    app.addHook('onRoute', ({ method, url, config }) => {
      if (config?.operation === undefined && config?.guardsItself !== true && !OPEN.has(url))
        throw new Error(`${String(method)} ${url} has no operation, so nothing guards it`)
    })
    app.addHook('onRequest', async (request, reply) => {
      const auth = request.routeOptions.config.operation?.auth ?? 'none'
      if (auth === 'none') return
      const beforeLookUp = (): void => limits.assertMayTry(request)
      try {
        request.principal = await authenticate(auth, readCredentials(request.headers), { ...parts, beforeLookUp })
      } catch (err) {
        if (isAppError(err, 'unauthenticated')) {
          limits.countFailure(request)
          limits.count(request, reply)
        }
        throw err
      }
    })
  },
  { name: 'auth' },
)
