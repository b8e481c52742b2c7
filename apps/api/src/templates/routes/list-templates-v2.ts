import { Type } from 'typebox'
import { DEFAULT_PAGE_SIZE, Paged } from '@sandyard/api-contract/paging'
import { ListTemplatesV2Query } from '@sandyard/api-contract/templates/list-templates'
import { Template } from '@sandyard/api-contract/templates/template'
import { getActingTeam } from '../../auth/acting-team.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { decodeCursor, encodeCursor } from '../../http/cursor.ts'
import { errors, operation } from '../../http/operation.ts'
import { listTemplatePage } from '../list-templates.ts'
import { toTemplate } from '../template-view.ts'

/** `GET /v2/templates` (control-plane.md 9.3). */
export const listTemplatesV2Route: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listTemplatesV2'),
    schema: { querystring: ListTemplatesV2Query, response: { 200: Paged(Type.Array(Template)), ...errors(400, 401, 403, 429, 500) } },
    handler: async ({ principal, query }, reply) => {
      const { db } = ctx.database
      const team = await getActingTeam(db, principal, { teamId: query.teamID, mayBeBlocked: true })
      const limit = query.limit ?? DEFAULT_PAGE_SIZE
      const after = query.nextToken === undefined ? undefined : decodeCursor(query.nextToken, 'desc')
      const rows = await listTemplatePage(db, team.id, { after, limit })
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      if (rows.length > limit && last !== undefined) {
        void reply.header('x-next-token', encodeCursor({ time: last.created_at, id: last.template_id }, 'desc'))
      }
      return page.map(toTemplate)
    },
  })
