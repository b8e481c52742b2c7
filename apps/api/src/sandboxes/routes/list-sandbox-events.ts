import { Type } from 'typebox'
import { SandboxEvent, SandboxEventsQuery } from '@sandyard/api-contract/events/sandbox-event'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { SandboxParams } from './sandbox-params.ts'
import { sandboxNotFound } from '../sandbox-errors.ts'
import { parseSandboxId } from '../sandbox-id.ts'
import { describeEvents, isSandboxOfTeam } from '../events/describe-events.ts'
import { toSandboxEvent } from '../events/event-view.ts'
import { readEvents } from '../../events/read-events.ts'

const PAGE_SIZE = 100

/**
 * `GET /sandboxes/{sandboxID}/events`, an operation of ours: every change of a sandbox with its actor, oldest first, also after its end
 * while the history keeps it. A reader that continues after its last place misses nothing.
 */
export const listSandboxEventsRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listSandboxEvents'),
    schema: {
      params: SandboxParams,
      querystring: SandboxEventsQuery,
      response: { 200: Type.Array(SandboxEvent), ...errors(400, 401, 403, 404, 429, 500) },
    },
    handler: async ({ principal, params, query }) => {
      const { database } = ctx
      const subject = parseSandboxId(params.sandboxID)
      if (!(await isSandboxOfTeam(database.db, getTeam(principal).id, subject))) throw sandboxNotFound(params.sandboxID)
      const placed = await readEvents(database, { subject, after: query.after ?? 0, limit: query.limit ?? PAGE_SIZE })
      const described = await describeEvents(
        database.db,
        placed.map(({ eventId }) => eventId),
      )
      const byId = new Map(described.map((event) => [event.eventId, event]))
      return placed.flatMap(({ eventId, place }) => {
        const event = byId.get(eventId)
        return event === undefined ? [] : [toSandboxEvent(event, place)]
      })
    },
  })
