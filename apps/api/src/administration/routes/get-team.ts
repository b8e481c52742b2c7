import { AdminTeam } from '@sandyard/api-contract/administration/admin-team'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { findTeamRow } from '../../teams/team-rows.ts'
import { settingLimits, toAdminTeam } from '../admin-views.ts'
import { teamNotFound } from '../../teams/team-errors.ts'
import { checkUuid } from '../require-team.ts'
import { AdminTeamParams } from './admin-params.ts'

/** `GET /admin/teams/{teamID}` (ours). */
export const adminGetTeamRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('adminGetTeam'),
    schema: { params: AdminTeamParams, response: { 200: AdminTeam, ...errors(400, 401, 404, 429, 500) } },
    handler: async ({ params }) => {
      const row = await findTeamRow(ctx.database.db, checkUuid(params.teamID, 'team ID'))
      if (row === undefined) throw teamNotFound()
      return toAdminTeam(row, settingLimits(ctx.config))
    },
  })
