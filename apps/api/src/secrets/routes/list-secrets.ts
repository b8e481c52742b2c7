import { Type } from 'typebox'
import { DEFAULT_PAGE_SIZE, Paged, PagingQuery } from '@sandyard/api-contract/paging'
import { SecretInfo } from '@sandyard/api-contract/secrets/secret'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { decodeCursor, encodeCursor } from '../../http/cursor.ts'
import { errors, operation } from '../../http/operation.ts'
import { listSecrets } from '../read-secrets.ts'
import { toSecretInfo } from '../secret-rows.ts'
import { getKeyRing, SECRETS_SCOPE } from './secrets-scope.ts'

/** `GET /secrets` (control-plane.md 16). */
export const listSecretsRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listSecrets'),
    ...SECRETS_SCOPE,
    schema: {
      querystring: PagingQuery,
      response: { 200: Paged(Type.Array(SecretInfo)), ...errors(400, 401, 403, 404, 409, 429, 500, 502, 504) },
    },
    handler: async ({ principal, query }, reply) => {
      const team = getTeam(principal)
      getKeyRing(ctx.config.keyRing)
      const limit = query.limit ?? DEFAULT_PAGE_SIZE
      const after = query.nextToken === undefined ? undefined : decodeCursor(query.nextToken, 'desc')
      const rows = await listSecrets(ctx.database.db, team.id, { after, limit })
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      if (rows.length > limit && last !== undefined) {
        void reply.header('x-next-token', encodeCursor({ time: last.created_at, id: last.secret_id }, 'desc'))
      }
      return page.map(toSecretInfo)
    },
  })
