import { RunningCounts as Answer } from '@sandyard/api-contract/administration/team-actions'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { RunningCounts } from '../running-counts.ts'

/** `GET /admin/sandboxes/running-counts` (control-plane.md 13.2). */
export const getRunningCountsRoute: ApiRoute = (app, ctx) => {
  const counts = new RunningCounts(ctx.database.db)
  return app.route({
    ...operation('getRunningCounts'),
    schema: { response: { 200: Answer, ...errors(401, 429, 500) } },
    handler: () => counts.get(),
  })
}
