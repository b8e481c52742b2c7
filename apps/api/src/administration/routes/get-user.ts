import { AdminUser } from '@sandyard/api-contract/administration/admin-user'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { findUserRow } from '../../teams/users.ts'
import { toAdminUser } from '../admin-views.ts'
import { userNotFound } from '../../teams/team-errors.ts'
import { checkUuid } from '../require-team.ts'
import { AdminUserParams } from './admin-params.ts'

/** `GET /admin/users/{userID}` (ours). */
export const adminGetUserRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('adminGetUser'),
    schema: { params: AdminUserParams, response: { 200: AdminUser, ...errors(400, 401, 404, 429, 500) } },
    handler: async ({ params }) => {
      const row = await findUserRow(ctx.database.db, checkUuid(params.userID, 'user ID'))
      if (row === undefined) throw userNotFound()
      return toAdminUser(row)
    },
  })
