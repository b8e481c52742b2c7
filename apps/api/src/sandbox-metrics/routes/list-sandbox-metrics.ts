import { ListSandboxMetricsQuery, MAX_METRIC_SANDBOXES, SandboxesWithMetrics } from '@sandyard/api-contract/sandboxes/sandbox-metrics'
import { AppError } from '@sandyard/kit/errors/app-error'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { listLatestSamples } from '../list-samples.ts'
import { toSandboxMetric } from '../metric-view.ts'

/** `GET /sandboxes/metrics` (control-plane.md 8.3). */
export const listSandboxMetricsRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listSandboxMetrics'),
    schema: { querystring: ListSandboxMetricsQuery, response: { 200: SandboxesWithMetrics, ...errors(400, 401, 403, 429, 500) } },
    handler: async ({ principal, query }) => {
      const ids = query.sandbox_ids.split(',')
      if (ids.length > MAX_METRIC_SANDBOXES) {
        throw new AppError('invalid_argument', `Too many sandboxes requested, maximum is ${MAX_METRIC_SANDBOXES}`)
      }
      if (new Set(ids).size < ids.length) throw new AppError('invalid_argument', 'validation error: sandbox_ids must be unique')
      const latest = await listLatestSamples(ctx.database.db, getTeam(principal).id, ids)
      return { sandboxes: Object.fromEntries([...latest].map(([id, sample]) => [id, toSandboxMetric(sample)])) }
    },
  })
