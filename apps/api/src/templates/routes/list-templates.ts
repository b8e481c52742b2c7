import { Type } from 'typebox'
import { ListTemplatesQuery } from '@sandyard/api-contract/templates/list-templates'
import { Template } from '@sandyard/api-contract/templates/template'
import { getActingTeam } from '../../auth/acting-team.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { sendList } from '../../http/send-list.ts'
import { listAllTemplates } from '../list-templates.ts'
import { toTemplate } from '../template-view.ts'

/** `GET /templates` (control-plane.md 9.2). */
export const listTemplatesRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listTemplates'),
    schema: { querystring: ListTemplatesQuery, response: { 200: Type.Array(Template), ...errors(400, 401, 403, 429, 500) } },
    handler: async ({ principal, query }, reply) => {
      const { db } = ctx.database
      const team = await getActingTeam(db, principal, { teamId: query.teamID, mayBeBlocked: true })
      const rows = await listAllTemplates(db, team.id)
      return sendList(reply, rows, toTemplate)
    },
  })
