import type { ApiRoute } from '../../http/api-instance.ts'
import { Nothing } from '../../http/nothing.ts'
import { errors, operation } from '../../http/operation.ts'
import { deleteTemplate } from '../delete-template.ts'
import { getOwnTemplate } from '../own-template.ts'
import { TemplateParams } from './template-params.ts'

const ACCESS = { mayBeBlocked: true, mayUserNameIt: true, mayBeDeleted: true }

/** `DELETE /templates/{templateID}` (control-plane.md 9.6). */
export const deleteTemplateRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('deleteTemplate'),
    schema: { params: TemplateParams, response: { 204: Nothing, ...errors(400, 401, 403, 404, 429, 500, 503) } },
    handler: async ({ principal, params }, reply) => {
      const { team, template } = await getOwnTemplate(ctx.database.db, principal, params.templateID, ACCESS)
      await deleteTemplate(ctx.templates, team.id, template.templateId)
      return reply.code(204).send(null)
    },
  })
