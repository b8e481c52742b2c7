import { AppError } from '@sandyard/kit/errors/app-error'
import pLimit from 'p-limit'
import { Type } from 'typebox'
import type { AppContext } from '../../context.ts'
import type { ApiInstance } from '../../http/api-instance.ts'
import { CertificateQuota } from '../read/certificate-quota.ts'
import { hasCertificateName } from '../read/has-certificate-name.ts'

const LONGEST_NAME = 253
/** The route needs no key, so a flood of handshakes may take this many database connections and no more. */
const LOOKUPS_AT_ONCE = 2
const MAX_WAITING = 256

/** `GET /tls/ask?domain=`: 200 when a reverse proxy may get a certificate for the name (Caddy's `on_demand_tls`), 429 over a cap of new names, else 404. */
export function registerAskCertificate(app: ApiInstance, ctx: AppContext): void {
  const { database, config } = ctx
  const names = { domain: config.domain, apiUrl: config.builds.apiUrl, quota: new CertificateQuota(config.tlsNamesPerHour) }
  const limit = pLimit(LOOKUPS_AT_ONCE)
  const schema = { hide: true, querystring: Type.Object({ domain: Type.String({ maxLength: LONGEST_NAME }) }) }
  app.get('/tls/ask', { schema }, async (request, reply) => {
    if (limit.pendingCount >= MAX_WAITING) throw new AppError('unavailable', 'Too many names are being looked up, please retry')
    const isServed = await limit(() => hasCertificateName(database.db, names, request.query.domain))
    return reply.code(isServed ? 200 : 404).send()
  })
}
