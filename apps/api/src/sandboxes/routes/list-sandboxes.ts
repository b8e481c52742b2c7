import { Type } from 'typebox'
import { ListSandboxesV1Query } from '@sandyard/api-contract/sandboxes/list-sandboxes'
import { ListedSandbox } from '@sandyard/api-contract/sandboxes/sandbox'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { sendList } from '../../http/send-list.ts'
import { listAllSandboxes } from '../read/list-sandboxes.ts'
import { parseMetadataFilter } from '../read/metadata-filter.ts'
import { toListedSandbox } from '../read/sandbox-view.ts'

/** `GET /sandboxes` (control-plane.md 6.3.1): running sandboxes, all on one page. */
export const listSandboxesRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listSandboxes'),
    schema: { querystring: ListSandboxesV1Query, response: { 200: Type.Array(ListedSandbox), ...errors(400, 401, 403, 429, 500) } },
    handler: async ({ principal, query }, reply) => {
      const rows = await listAllSandboxes(ctx.database.db, {
        teamId: getTeam(principal).id,
        states: ['running'],
        ...(query.metadata !== undefined && { metadata: parseMetadataFilter(query.metadata) }),
      })
      return sendList(reply, rows, toListedSandbox)
    },
  })
