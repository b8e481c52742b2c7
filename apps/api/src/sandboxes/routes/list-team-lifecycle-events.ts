import { Type } from 'typebox'
import { LifecycleEvent, LifecycleEventsQuery } from '@sandyard/api-contract/events/sandbox-event'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { toLifecycleEvent } from '../events/event-view.ts'
import { listLifecycleEvents } from '../events/lifecycle-events.ts'
import { toLifecycleRequest } from '../events/lifecycle-request.ts'

/** `GET /events/sandboxes` (dashboard-and-cli.md 2.1): of all sandboxes of the team. */
export const listTeamLifecycleEventsRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listTeamLifecycleEvents'),
    schema: { querystring: LifecycleEventsQuery, response: { 200: Type.Array(LifecycleEvent), ...errors(400, 401, 403, 429, 500) } },
    handler: async ({ principal, query }) => {
      const events = await listLifecycleEvents(ctx.database.db, toLifecycleRequest(getTeam(principal).id, query))
      return events.map(toLifecycleEvent)
    },
  })
