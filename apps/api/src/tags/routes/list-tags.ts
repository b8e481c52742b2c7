import { Type } from 'typebox'
import { TemplateTag } from '@sandyard/api-contract/templates/tags'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { TemplateParams } from '../../templates/routes/template-params.ts'
import { listTags } from '../ready-assignments.ts'
import { toTemplateTag } from '../tag-view.ts'
import { getTaggedTemplate } from '../tagged-template.ts'

/** `GET /templates/{templateID}/tags` (control-plane.md 12.3). */
export const listTagsRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listTemplateTags'),
    schema: { params: TemplateParams, response: { 200: Type.Array(TemplateTag), ...errors(400, 401, 403, 404, 429, 500) } },
    handler: async ({ principal, params }) => {
      const { db } = ctx.database
      const { templateId } = await getTaggedTemplate(db, getTeam(principal), params.templateID)
      const tags = await listTags(db, templateId)
      return tags.map(toTemplateTag)
    },
  })
