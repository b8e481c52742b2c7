import { KilledSandboxes } from '@sandyard/api-contract/administration/team-actions'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { killTeamSandboxes } from '../kill-team-sandboxes.ts'
import { requireTeam } from '../require-team.ts'
import { AdminTeamParams } from './admin-params.ts'

/** Less than what a request may take (control-plane.md 1.2). */
const TIMEOUT_MS = 60_000

/** `POST /admin/teams/{teamID}/sandboxes/kill` (control-plane.md 13.2). */
export const killTeamSandboxesRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('killTeamSandboxes', { isBodyOptional: true }),
    schema: { params: AdminTeamParams, response: { 200: KilledSandboxes, ...errors(400, 401, 404, 429, 500) } },
    handler: async ({ params }) => {
      const { id } = await requireTeam(ctx.database.db, params.teamID)
      const { killed, failed } = await killTeamSandboxes(ctx.sandboxes, id, TIMEOUT_MS)
      return { killedCount: killed, failedCount: failed }
    },
  })
