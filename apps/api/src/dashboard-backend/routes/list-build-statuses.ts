import { DashboardBuildStatuses, DashboardBuildStatusesQuery, MAX_DASHBOARD_BUILDS } from '@sandyard/api-contract/dashboard-backend/builds'
import { AppError } from '@sandyard/kit/errors/app-error'
import { isUuid } from '@sandyard/kit/ids/uuid'
import { getTeam } from '../../auth/principal.ts'
import { readBuildsById } from '../../dashboard/operations/builds/read-builds.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { toBuildStatus } from '../build-states.ts'

/** `GET /dashboard-api/builds/statuses` (dashboard-and-cli.md 2.1). */
export const listDashboardBuildStatusesRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listDashboardBuildStatuses'),
    schema: { querystring: DashboardBuildStatusesQuery, response: { 200: DashboardBuildStatuses, ...errors(400, 401, 403, 429, 500) } },
    handler: async ({ principal, query }) => {
      const ids = [...new Set(query.build_ids.split(','))]
      if (ids.length > MAX_DASHBOARD_BUILDS) throw new AppError('invalid_argument', `At most ${MAX_DASHBOARD_BUILDS} builds at once`)
      if (!ids.every(isUuid)) throw new AppError('invalid_argument', 'Invalid build ID')
      const builds = await readBuildsById(ctx.database.db, getTeam(principal).id, ids)
      return { buildStatuses: builds.map((build) => ({ id: build.buildId, ...toBuildStatus(build) })) }
    },
  })
