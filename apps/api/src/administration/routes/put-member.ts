import { TeamMemberUpdate } from '@sandyard/api-contract/administration/admin-user'
import type { ApiRoute } from '../../http/api-instance.ts'
import { Nothing } from '../../http/nothing.ts'
import { errors, operation } from '../../http/operation.ts'
import { putMember } from '../../teams/members.ts'
import { checkUuid } from '../require-team.ts'
import { AdminMemberParams } from './admin-params.ts'

/** `PUT /admin/teams/{teamID}/members/{userID}` (ours). */
export const adminPutMemberRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('adminPutMember', { isBodyOptional: true }),
    schema: {
      params: AdminMemberParams,
      body: TeamMemberUpdate,
      response: { 204: Nothing, ...errors(400, 401, 404, 429, 500) },
    },
    handler: async ({ params, body }, reply) => {
      const membership = { teamId: checkUuid(params.teamID, 'team ID'), userId: checkUuid(params.userID, 'user ID') }
      await putMember(ctx.database, membership, body.isDefault)
      return reply.code(204).send(null)
    },
  })
