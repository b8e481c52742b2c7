import { SecretInfo, SecretPath } from '@sandyard/api-contract/secrets/secret'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { getSecret } from '../read-secrets.ts'
import { toSecretInfo } from '../secret-rows.ts'
import { getKeyRing, SECRETS_SCOPE } from './secrets-scope.ts'

/** `GET /secrets/{secretID}` (control-plane.md 16). */
export const getSecretRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getSecret'),
    ...SECRETS_SCOPE,
    schema: { params: SecretPath, response: { 200: SecretInfo, ...errors(400, 401, 403, 404, 409, 429, 500, 502, 504) } },
    handler: async ({ principal, params }) => {
      const team = getTeam(principal)
      getKeyRing(ctx.config.keyRing)
      return toSecretInfo(await getSecret(ctx.database.db, team.id, params.secretID))
    },
  })
