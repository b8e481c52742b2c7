import { UpdateTeamApiKey } from '@sandyard/api-contract/credentials/api-key'
import { getTeam } from '../../auth/principal.ts'
import { checkStorable } from '../../builds/start/check-storable.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { Accepted } from '../../http/nothing.ts'
import { errors, operation } from '../../http/operation.ts'
import { renameApiKey } from '../change-api-key.ts'
import { parseCredentialId } from '../credential-id.ts'
import { CredentialNotFound, sendNotFound } from './send-not-found.ts'
import { ApiKeyParams } from './credential-params.ts'

/** `PATCH /api-keys/{apiKeyID}` (control-plane.md 14.2): renames a key. */
export const updateApiKeyRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('updateApiKey'),
    schema: {
      params: ApiKeyParams,
      body: UpdateTeamApiKey,
      response: { 202: Accepted, 404: CredentialNotFound, ...errors(400, 401, 403, 429, 500) },
    },
    handler: async ({ principal, params, body: { name } }, reply) => {
      const id = parseCredentialId(params.apiKeyID, 'API key ID')
      checkStorable({ name })
      const isRenamed = await renameApiKey(ctx.database.db, { teamId: getTeam(principal).id, id }, name)
      return isRenamed ? reply.code(202).send(undefined) : sendNotFound(reply)
    },
  })
