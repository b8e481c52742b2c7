import { SecretPath } from '@sandyard/api-contract/secrets/secret'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { Nothing } from '../../http/nothing.ts'
import { errors, operation } from '../../http/operation.ts'
import { deleteSecret } from '../delete-secret.ts'
import { getKeyRing, SECRETS_SCOPE } from './secrets-scope.ts'

/** `DELETE /secrets/{secretID}` (control-plane.md 16). */
export const deleteSecretRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('deleteSecret'),
    ...SECRETS_SCOPE,
    schema: { params: SecretPath, response: { 204: Nothing, ...errors(400, 401, 403, 404, 409, 429, 500, 502, 504) } },
    handler: async ({ principal, params }, reply) => {
      const team = getTeam(principal)
      getKeyRing(ctx.config.keyRing)
      await deleteSecret(ctx.database.db, team.id, params.secretID)
      return reply.code(204).send(null)
    },
  })
