import { EgressQuery } from '@sandyard/dashboard-contract/network'
import { SandboxParams } from '@sandyard/dashboard-contract/request-fields'
import type { ApiRoute } from '../../../http/api-instance.ts'
import { registerTeamRoute } from '../../dashboard-route.ts'
import { assertSandboxOf } from '../../live/topics/topic-argument.ts'
import { limitOf, readCursor, takePage } from '../../operations/page-cursor.ts'
import { readEgress } from './read-egress.ts'

/** `GET /sandboxes/{sandboxId}/egress`: newest first. */
export const egressRoute: ApiRoute = (app, { database }) =>
  registerTeamRoute(app, {
    operation: 'GET /sandboxes/{sandboxId}/egress',
    schema: { params: SandboxParams, querystring: EgressQuery },
    whileBlocked: true,
    handle: async ({ team, params: { sandboxId }, query }) => {
      await assertSandboxOf(database, team.id, sandboxId)
      const limit = limitOf(query)
      const place = Number(readCursor(query.cursor)?.id ?? NaN)
      const before = Number.isSafeInteger(place) ? place : undefined
      const rows = await readEgress(database.db, { teamId: team.id, sandboxId, limit: limit + 1, verdict: query.verdict, before })
      const { page, nextCursor } = takePage(rows, limit, ({ id }) => ({ key: '', id }))
      return { data: page, nextCursor }
    },
  })
