import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

const PREFIX = '/docs'
/** Everything comes from this server. */
const POLICY = [
  "default-src 'none'",
  "base-uri 'none'",
  "connect-src 'self'",
  "font-src 'self' data:",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "img-src 'self' data:",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
].join('; ')
/** Copies of the document, which would be written for each request. The page asks for the first one. */
const COPIES: ReadonlySet<string | undefined> = new Set([`${PREFIX}/json`, `${PREFIX}/yaml`])

/** Serves the description as pages at `/docs`. */
export async function registerDocsPage(app: FastifyInstance): Promise<void> {
  await app.register(swaggerUi, {
    routePrefix: PREFIX,
    staticCSP: POLICY,
    // Without the check of a public service.
    uiConfig: { validatorUrl: null, docExpansion: 'none', filter: true, displayOperationId: true },
    uiHooks: {
      onRequest: (request, reply, next) => {
        if (COPIES.has(request.routeOptions.url)) void reply.redirect('../openapi.json')
        else next()
      },
    },
  })
}
