import { Type } from 'typebox'
import { Template } from '@sandyard/api-contract/templates/template'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { sendList } from '../../http/send-list.ts'
import { listDefaultTemplates } from '../list-templates.ts'
import { toForeignTemplate, toTemplate } from '../template-view.ts'

/** `GET /default-templates` (clients-python-2.63.md 7). An administrator sees all of them in full, like the team that owns them. */
export const listDefaultTemplatesRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listDefaultTemplates'),
    schema: { response: { 200: Type.Array(Template), ...errors(401, 403, 429, 500) } },
    handler: async ({ principal }, reply) => {
      const team = getTeam(principal)
      const isAdmin = principal?.via === 'admin_team'
      const rows = await listDefaultTemplates(ctx.database.db, isAdmin ? undefined : team.id)
      return sendList(reply, rows, (row) => (isAdmin || row.team_id === team.id ? toTemplate(row) : toForeignTemplate(row)))
    },
  })
