import { CancelledBuilds } from '@sandyard/api-contract/administration/team-actions'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { cancelTeamBuilds } from '../cancel-team-builds.ts'
import { requireTeam } from '../require-team.ts'
import { AdminTeamParams } from './admin-params.ts'

/** A transaction that has begun may take its own time. */
const TIMEOUT_MS = 40_000

/** `POST /admin/teams/{teamID}/builds/cancel` (control-plane.md 13.2). */
export const cancelTeamBuildsRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('cancelTeamBuilds', { isBodyOptional: true }),
    schema: { params: AdminTeamParams, response: { 200: CancelledBuilds, ...errors(400, 401, 404, 429, 500) } },
    handler: async ({ params }) => {
      const { id } = await requireTeam(ctx.database.db, params.teamID)
      const { cancelled, failed } = await cancelTeamBuilds({ database: ctx.database, log: ctx.log.builds }, id, TIMEOUT_MS)
      return { cancelledCount: cancelled, failedCount: failed }
    },
  })
