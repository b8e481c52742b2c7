import { Type } from 'typebox'
import { TeamMetric, TeamMetricsQuery } from '@sandyard/api-contract/teams/team-metrics'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { toSampleTime } from '../../time-series/sample-time.ts'
import { getOwnTeamId, readRange } from '../read-range.ts'
import { listTeamPoints } from '../team-series.ts'
import { TeamParams } from './team-params.ts'

/** `GET /teams/{teamID}/metrics` (control-plane.md 5.3). */
export const getTeamMetricsRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getTeamMetrics'),
    schema: {
      params: TeamParams,
      querystring: TeamMetricsQuery,
      response: { 200: Type.Array(TeamMetric), ...errors(400, 401, 403, 429, 500) },
    },
    handler: async ({ principal, params, query }) => {
      const teamId = getOwnTeamId(principal, params.teamID)
      const points = await listTeamPoints(ctx.database.db, teamId, readRange(query))
      return points.map(({ at, concurrent, startRate }) => ({
        ...toSampleTime(at),
        concurrentSandboxes: concurrent,
        sandboxStartRate: startRate,
      }))
    },
  })
