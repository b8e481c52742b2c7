import type { ApiRoute } from '../../http/api-instance.ts'
import { Nothing } from '../../http/nothing.ts'
import { errors, operation } from '../../http/operation.ts'
import { deleteTeam } from '../../teams/delete-team.ts'
import { teamNotFound } from '../../teams/team-errors.ts'
import { checkUuid } from '../require-team.ts'
import { AdminTeamParams } from './admin-params.ts'

/** `DELETE /admin/teams/{teamID}` (ours). */
export const adminDeleteTeamRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('adminDeleteTeam'),
    schema: { params: AdminTeamParams, response: { 204: Nothing, ...errors(400, 401, 404, 409, 429, 500) } },
    handler: async ({ params }, reply) => {
      await deleteTeam(ctx.database, { teamId: checkUuid(params.teamID, 'team ID'), onGone: teamNotFound })
      return reply.code(204).send(null)
    },
  })
