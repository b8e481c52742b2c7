import { Type } from 'typebox'
import type { AppContext } from '../../context.ts'
import type { ApiInstance } from '../../http/api-instance.ts'
import { hasCertificateName } from '../read/has-certificate-name.ts'

const LONGEST_NAME = 253

/** `GET /tls/ask?domain=`: 200 when a reverse proxy may get a certificate for the name (Caddy's `on_demand_tls`), else 404. It needs no key. */
export function registerAskCertificate(app: ApiInstance, ctx: AppContext): void {
  const { database, config } = ctx
  const names = { domain: config.domain, apiUrl: config.builds.apiUrl }
  const schema = { hide: true, querystring: Type.Object({ domain: Type.String({ maxLength: LONGEST_NAME }) }) }
  app.get('/tls/ask', { schema }, async (request, reply) => {
    const isServed = await hasCertificateName(database.db, names, request.query.domain)
    return reply.code(isServed ? 200 : 404).send()
  })
}
