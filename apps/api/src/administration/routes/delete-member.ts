import type { ApiRoute } from '../../http/api-instance.ts'
import { Nothing } from '../../http/nothing.ts'
import { errors, operation } from '../../http/operation.ts'
import { removeMember } from '../../teams/members.ts'
import { checkUuid, requireTeam } from '../require-team.ts'
import { AdminMemberParams } from './admin-params.ts'

/** `DELETE /admin/teams/{teamID}/members/{userID}` (ours). */
export const adminDeleteMemberRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('adminDeleteMember'),
    schema: { params: AdminMemberParams, response: { 204: Nothing, ...errors(400, 401, 404, 429, 500) } },
    handler: async ({ params }, reply) => {
      const userId = checkUuid(params.userID, 'user ID')
      const { id: teamId } = await requireTeam(ctx.database.db, params.teamID)
      await removeMember(ctx.database, { teamId, userId })
      return reply.code(204).send(null)
    },
  })
