import fp from 'fastify-plugin'
import { authenticate } from '../auth/authenticate.ts'
import { readCredentials } from '../auth/credentials.ts'
import type { SchemeParts } from '../auth/schemes.ts'

/** What is not part of the interface and needs no credentials. */
const OPEN: ReadonlySet<string> = new Set(['/ready', '/openapi.json'])

/**
 * Finds out who asks before a body is read, so that an unauthenticated request with an invalid body is told the former
 * (control-plane.md 1.3).
 */
export const authPlugin = fp<{ parts: SchemeParts }>(
  async (app, { parts }) => {
    app.decorateRequest('principal', null)
    app.addHook('onRoute', ({ method, url, config }) => {
      if (config?.operation === undefined && !OPEN.has(url))
        throw new Error(`${String(method)} ${url} has no operation, so nothing guards it`)
    })
    app.addHook('onRequest', async (request) => {
      const auth = request.routeOptions.config.operation?.auth ?? 'none'
      if (auth !== 'none') request.principal = await authenticate(auth, readCredentials(request.headers), parts)
    })
  },
  { name: 'auth' },
)
