import { MaxTeamMetric, TeamMetricsMaxQuery } from '@sandyard/api-contract/teams/team-metrics'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { toSampleTime } from '../../time-series/sample-time.ts'
import { getOwnTeamId, readRange } from '../read-range.ts'
import { findTeamMax } from '../team-series.ts'
import { TeamParams } from './team-params.ts'

/** `GET /teams/{teamID}/metrics/max` (control-plane.md 5.3): 0 at the end of the range when there is no data. */
export const getTeamMetricsMaxRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getTeamMetricsMax'),
    schema: {
      params: TeamParams,
      querystring: TeamMetricsMaxQuery,
      response: { 200: MaxTeamMetric, ...errors(400, 401, 403, 429, 500) },
    },
    handler: async ({ principal, params, query }) => {
      const teamId = getOwnTeamId(principal, params.teamID)
      const range = readRange(query)
      const found = await findTeamMax(ctx.database.db, teamId, { metric: query.metric, ...range })
      const { at, value } = found ?? { at: new Date(range.end * 1000), value: 0 }
      return { ...toSampleTime(at), value }
    },
  })
