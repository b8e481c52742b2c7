import { Type } from 'typebox'
import { DashboardBuild } from '@sandyard/api-contract/dashboard-backend/builds'
import { AppError } from '@sandyard/kit/errors/app-error'
import { isUuid } from '@sandyard/kit/ids/uuid'
import { getTeam } from '../../auth/principal.ts'
import { readBuildsById } from '../../dashboard/operations/builds/read-builds.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { listNames } from '../../templates/template-rows.ts'
import { toBuildStatus } from '../build-states.ts'

/** `GET /dashboard-api/builds/{buildID}` (dashboard-and-cli.md 2.1). */
export const getDashboardBuildRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getDashboardBuild'),
    schema: { params: Type.Object({ buildID: Type.String() }), response: { 200: DashboardBuild, ...errors(401, 403, 404, 429, 500) } },
    handler: async ({ principal, params: { buildID } }) => {
      const { db } = ctx.database
      const [build] = isUuid(buildID) ? await readBuildsById(db, getTeam(principal).id, [buildID]) : []
      if (build === undefined) throw new AppError('not_found', "Build not found or you don't have access to it")
      return { names: await listNames(db, build.templateId), createdAt: build.createdAt, ...toBuildStatus(build) }
    },
  })
