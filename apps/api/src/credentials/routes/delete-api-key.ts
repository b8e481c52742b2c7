import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { Nothing } from '../../http/nothing.ts'
import { errors, operation } from '../../http/operation.ts'
import { deleteApiKey } from '../change-api-key.ts'
import { parseCredentialId } from '../credential-id.ts'
import { CredentialNotFound, sendNotFound } from './send-not-found.ts'
import { ApiKeyParams } from './credential-params.ts'

/** `DELETE /api-keys/{apiKeyID}` (control-plane.md 14.2): every server refuses the key at once. */
export const deleteApiKeyRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('deleteApiKey'),
    schema: { params: ApiKeyParams, response: { 204: Nothing, 404: CredentialNotFound, ...errors(400, 401, 403, 429, 500) } },
    handler: async ({ principal, params }, reply) => {
      const id = parseCredentialId(params.apiKeyID, 'API key ID')
      const isDeleted = await deleteApiKey(ctx.database.db, { teamId: getTeam(principal).id, id })
      return isDeleted ? reply.code(204).send(null) : sendNotFound(reply)
    },
  })
