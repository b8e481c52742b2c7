import { TagExistsQuery, TemplateTagExists } from '@sandyard/api-contract/templates/tag-history'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { TemplateParams } from '../../templates/routes/template-params.ts'
import { parseTag } from '../parse-tags.ts'
import { hasTag } from '../ready-assignments.ts'
import { getVisibleTemplate } from '../tagged-template.ts'

/** `GET /templates/{templateID}/tags/exists` and `GET /dashboard-api/templates/{templateID}/tags/exists` (clients-python-2.63.md 7). */
export const checkTagRoute: ApiRoute = (app, ctx) => {
  // The backend of upstream's dashboard has the same operation.
  for (const route of [operation('checkTemplateTag'), operation('checkDashboardTag')]) {
    app.route({
      ...route,
      schema: {
        params: TemplateParams,
        querystring: TagExistsQuery,
        response: { 200: TemplateTagExists, ...errors(400, 401, 403, 404, 429, 500) },
      },
      handler: async ({ principal, params, query }) => {
        const { db } = ctx.database
        const tag = parseTag(query.tag)
        const { templateId } = await getVisibleTemplate(db, getTeam(principal), params.templateID)
        return { exists: await hasTag(db, templateId, tag), normalizedTag: tag }
      },
    })
  }
}
