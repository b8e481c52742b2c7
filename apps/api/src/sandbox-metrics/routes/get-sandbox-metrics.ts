import { Type } from 'typebox'
import { SandboxMetric, SandboxMetricsQuery } from '@sandyard/api-contract/sandboxes/sandbox-metrics'
import { AppError } from '@sandyard/kit/errors/app-error'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { SandboxParams } from '../../sandboxes/routes/sandbox-params.ts'
import { parseSandboxId } from '../../sandboxes/sandbox-id.ts'
import { listSamples } from '../list-samples.ts'
import { toSandboxMetric } from '../metric-view.ts'
import { isInDates, isReversed } from '../../time-series/time-range.ts'

/** `GET /sandboxes/{sandboxID}/metrics` (control-plane.md 8.3). */
export const getSandboxMetricsRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getSandboxMetrics'),
    schema: {
      params: SandboxParams,
      querystring: SandboxMetricsQuery,
      response: { 200: Type.Array(SandboxMetric), ...errors(400, 401, 403, 404, 429, 500) },
    },
    handler: async ({ principal, params, query }) => {
      const sandboxId = parseSandboxId(params.sandboxID)
      if (isReversed(query) || !isInDates(query)) throw new AppError('invalid_argument', 'Invalid time range for metrics')
      const samples = await listSamples(ctx.database.db, { teamId: getTeam(principal).id, sandboxId, ...query })
      return samples.map(toSandboxMetric)
    },
  })
