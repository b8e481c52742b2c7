import { AppError } from '@sandyard/kit/errors/app-error'
import { noteTeam } from '@sandyard/kit/tracing/scope'
import { checkUuid } from '../../administration/require-team.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { Nothing } from '../../http/nothing.ts'
import { errors, operation } from '../../http/operation.ts'
import { deleteApiKey } from '../change-api-key.ts'
import { TeamApiKeyParams } from './credential-params.ts'

/** `DELETE /admin/teams/{teamID}/api-keys/{apiKeyID}` (control-plane.md 13.2). */
export const deleteTeamApiKeyRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('deleteTeamApiKey'),
    schema: { params: TeamApiKeyParams, response: { 204: Nothing, ...errors(400, 401, 404, 429, 500) } },
    handler: async ({ params }, reply) => {
      const key = { teamId: checkUuid(params.teamID, 'team ID'), id: checkUuid(params.apiKeyID, 'API key ID') }
      if (!(await deleteApiKey(ctx.database.db, key))) throw new AppError('not_found', 'API key not found')
      noteTeam(key.teamId)
      return reply.code(204).send(null)
    },
  })
