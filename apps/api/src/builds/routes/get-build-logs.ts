import { BuildLogsQuery, MAX_LOG_ENTRIES, TemplateBuildLogs } from '@sandyard/api-contract/builds/build-info'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { toLogEntry } from '../read/build-info.ts'
import { listLogsByTime } from '../read/build-logs.ts'
import { getReadableBuild } from '../read/read-build.ts'
import { BuildParams } from './route-parts.ts'

/** `GET /templates/{templateID}/builds/{buildID}/logs` (control-plane.md 10.7). Both values of `source` read the same store. */
export const getBuildLogsRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getBuildLogs'),
    schema: {
      params: BuildParams,
      querystring: BuildLogsQuery,
      response: { 200: TemplateBuildLogs, ...errors(400, 401, 403, 404, 429, 500) },
    },
    handler: async ({ principal, params, query }) => {
      const { db } = ctx.database
      const { buildId } = await getReadableBuild(db, principal, { templateId: params.templateID, buildId: params.buildID })
      const { limit = MAX_LOG_ENTRIES, direction = 'forward', level } = query
      const cursor = query.cursor === undefined ? undefined : new Date(query.cursor)
      const rows = await listLogsByTime(db, { buildId, cursor, limit, direction, level })
      return { logs: rows.map(toLogEntry) }
    },
  })
