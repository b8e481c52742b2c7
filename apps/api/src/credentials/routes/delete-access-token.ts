import { getUser } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { Nothing } from '../../http/nothing.ts'
import { errors, operation } from '../../http/operation.ts'
import { deleteAccessToken } from '../create-access-token.ts'
import { parseCredentialId } from '../credential-id.ts'
import { CredentialNotFound, sendNotFound } from './send-not-found.ts'
import { AccessTokenParams } from './credential-params.ts'

/** `DELETE /access-tokens/{accessTokenID}` (control-plane.md 14.1): only one's own. */
export const deleteAccessTokenRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('deleteAccessToken'),
    schema: { params: AccessTokenParams, response: { 204: Nothing, 404: CredentialNotFound, ...errors(400, 401, 429, 500) } },
    handler: async ({ principal, params }, reply) => {
      const id = parseCredentialId(params.accessTokenID, 'access token ID')
      const isDeleted = await deleteAccessToken(ctx.database.db, { userId: getUser(principal).id, id })
      return isDeleted ? reply.code(204).send(null) : sendNotFound(reply)
    },
  })
