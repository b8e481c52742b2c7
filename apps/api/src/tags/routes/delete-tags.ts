import { DeleteTemplateTagsRequest } from '@sandyard/api-contract/templates/tags'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { Nothing } from '../../http/nothing.ts'
import { errors, operation } from '../../http/operation.ts'
import { deleteTags } from '../delete-tags.ts'

/** `DELETE /templates/tags` (control-plane.md 12.2). */
export const deleteTagsRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('deleteTemplateTags'),
    schema: { body: DeleteTemplateTagsRequest, response: { 204: Nothing, ...errors(400, 401, 403, 404, 429, 500) } },
    handler: async ({ principal, body }, reply) => {
      await deleteTags(ctx.database, getTeam(principal), { ...body, scope: principal?.scope })
      return reply.code(204).send(null)
    },
  })
