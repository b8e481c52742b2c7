import { AssignedTemplateTags, AssignTemplateTagsRequest } from '@sandyard/api-contract/templates/tags'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { assignTags } from '../assign-tags.ts'

/** `POST /templates/tags` (control-plane.md 12.1). */
export const assignTagsRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('assignTemplateTags'),
    schema: {
      body: AssignTemplateTagsRequest,
      response: { 201: AssignedTemplateTags, ...errors(400, 401, 403, 404, 429, 500) },
    },
    handler: async ({ principal, body }, reply) => {
      const { tags, buildId } = await assignTags(ctx.database, getTeam(principal), { ...body, scope: principal?.scope })
      return reply.code(201).send({ tags, buildID: buildId })
    },
  })
