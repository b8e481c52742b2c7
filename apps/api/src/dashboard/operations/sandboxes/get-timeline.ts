import { SandboxParams } from '@sandyard/dashboard-contract/request-fields'
import { TimelineQuery } from '@sandyard/dashboard-contract/timeline'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { isSandboxOfTeam } from '../../../sandboxes/events/describe-events.ts'
import { sandboxNotFound } from '../../../sandboxes/sandbox-errors.ts'
import { registerTeamRoute } from '../../dashboard-route.ts'
import { readTimeline } from './read-timeline.ts'

/** `GET /sandboxes/{sandboxId}/timeline`: oldest first by default. */
export const getTimelineRoute: ApiRoute = (app, ctx) =>
  registerTeamRoute(app, {
    operation: 'GET /sandboxes/{sandboxId}/timeline',
    schema: { params: SandboxParams, querystring: TimelineQuery },
    whileBlocked: true,
    handle: async ({ team, params: { sandboxId }, query }) => {
      const { db } = ctx.database
      if (!(await isSandboxOfTeam(db, team.id, sandboxId))) throw sandboxNotFound(sandboxId)
      return readTimeline(db, { teamId: team.id, sandboxId, query })
    },
  })
