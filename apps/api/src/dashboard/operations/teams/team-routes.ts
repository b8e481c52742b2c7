import { ListTeamsQuery, TeamParams } from '@sandyard/dashboard-contract/teams'
import { settingLimits } from '../../../administration/admin-views.ts'
import type { AppContext } from '../../../context.ts'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { teamNotFound } from '../../../teams/team-errors.ts'
import { registerSessionRoute } from '../../dashboard-route.ts'
import { getSessionTeam, type DashboardSession } from '../../sessions/dashboard-session.ts'
import { readTeamDetail, readTeamRows } from './read-teams.ts'

/** Operators see all teams, developers their own. */
function partsOf({ config, database }: AppContext, session: DashboardSession) {
  const only = session.role === 'operator' ? undefined : getSessionTeam(session, { whileBlocked: true }).id
  return { db: database.db, settings: settingLimits(config), only }
}

/** `GET /teams` */
const listTeamsRoute: ApiRoute = (app, ctx) =>
  registerSessionRoute(app, {
    operation: 'GET /teams',
    schema: { querystring: ListTeamsQuery },
    handle: ({ session, query }) => readTeamRows(partsOf(ctx, session), query),
  })

/** `GET /teams/{teamId}` */
const getTeamRoute: ApiRoute = (app, ctx) =>
  registerSessionRoute(app, {
    operation: 'GET /teams/{teamId}',
    schema: { params: TeamParams },
    handle: async ({ session, params }) => {
      const team = await readTeamDetail(partsOf(ctx, session), params.teamId)
      if (team === undefined) throw teamNotFound()
      return team
    },
  })

export const teamRoutes: readonly ApiRoute[] = [listTeamsRoute, getTeamRoute]
