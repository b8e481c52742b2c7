import type { ApiRoute } from '../../http/api-instance.ts'
import { Nothing } from '../../http/nothing.ts'
import { errors, operation } from '../../http/operation.ts'
import { deleteUser } from '../../teams/users.ts'
import { userNotFound } from '../../teams/team-errors.ts'
import { checkUuid } from '../require-team.ts'
import { AdminUserParams } from './admin-params.ts'

/** `DELETE /admin/users/{userID}` (ours). */
export const adminDeleteUserRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('adminDeleteUser'),
    schema: { params: AdminUserParams, response: { 204: Nothing, ...errors(400, 401, 404, 429, 500) } },
    handler: async ({ params }, reply) => {
      if (!(await deleteUser(ctx.database.db, checkUuid(params.userID, 'user ID')))) throw userNotFound()
      return reply.code(204).send(null)
    },
  })
