import { AdminTeam, TeamUpdate } from '@sandyard/api-contract/administration/admin-team'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { updateTeam } from '../../teams/update-team.ts'
import { fromWireLimits, settingLimits, toAdminTeam } from '../admin-views.ts'
import { teamNotFound } from '../../teams/team-errors.ts'
import { checkUuid } from '../require-team.ts'
import { AdminTeamParams } from './admin-params.ts'

/** `PATCH /admin/teams/{teamID}` (ours). */
export const adminUpdateTeamRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('adminUpdateTeam'),
    schema: { params: AdminTeamParams, body: TeamUpdate, response: { 200: AdminTeam, ...errors(400, 401, 404, 429, 500) } },
    handler: async ({ params, body: { limits = {}, ...change } }) => {
      const teamId = checkUuid(params.teamID, 'team ID')
      const row = await updateTeam(ctx.database, { teamId, onGone: teamNotFound }, { ...change, limits: fromWireLimits(limits) })
      return toAdminTeam(row, settingLimits(ctx.config))
    },
  })
