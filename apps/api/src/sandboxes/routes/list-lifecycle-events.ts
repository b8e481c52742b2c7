import { Type } from 'typebox'
import { LifecycleEvent, LifecycleEventsQuery } from '@sandyard/api-contract/events/sandbox-event'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { SandboxParams } from './sandbox-params.ts'
import { sandboxNotFound } from '../sandbox-errors.ts'
import { parseSandboxId } from '../sandbox-id.ts'
import { isSandboxOfTeam } from '../events/describe-events.ts'
import { toLifecycleEvent } from '../events/event-view.ts'
import { listLifecycleEvents } from '../events/lifecycle-events.ts'
import { toLifecycleRequest } from '../events/lifecycle-request.ts'

/** `GET /events/sandboxes/{sandboxID}` (dashboard-and-cli.md 2.1). */
export const listLifecycleEventsRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listLifecycleEvents'),
    schema: {
      params: SandboxParams,
      querystring: LifecycleEventsQuery,
      response: { 200: Type.Array(LifecycleEvent), ...errors(400, 401, 403, 404, 429, 500) },
    },
    handler: async ({ principal, params, query }) => {
      const { db } = ctx.database
      const teamId = getTeam(principal).id
      const sandboxId = parseSandboxId(params.sandboxID)
      if (!(await isSandboxOfTeam(db, teamId, sandboxId))) throw sandboxNotFound(params.sandboxID)
      const events = await listLifecycleEvents(db, { ...toLifecycleRequest(teamId, query), sandboxId })
      return events.map(toLifecycleEvent)
    },
  })
