import { BuildStatusQuery, MAX_LOG_ENTRIES, TemplateBuildInfo } from '@sandyard/api-contract/builds/build-info'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { getBuildInfo } from '../read/build-info.ts'
import { getReadableBuild } from '../read/read-build.ts'
import { BuildParams } from './route-parts.ts'

/** `GET /templates/{templateID}/builds/{buildID}/status` (control-plane.md 10.6). */
export const getBuildStatusRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getBuildStatus'),
    schema: {
      params: BuildParams,
      querystring: BuildStatusQuery,
      response: { 200: TemplateBuildInfo, ...errors(400, 401, 403, 404, 429, 500) },
    },
    handler: async ({ principal, params, query }) => {
      const { db } = ctx.database
      const build = await getReadableBuild(db, principal, { templateId: params.templateID, buildId: params.buildID })
      const { logsOffset: offset = 0, limit = MAX_LOG_ENTRIES, level } = query
      return getBuildInfo(db, build, { offset, limit, level })
    },
  })
