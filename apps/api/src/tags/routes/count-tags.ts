import { TemplateTagsCount } from '@sandyard/api-contract/templates/tag-history'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { TemplateParams } from '../../templates/routes/template-params.ts'
import { countTags } from '../ready-assignments.ts'
import { getVisibleTemplate } from '../tagged-template.ts'

/** `GET /templates/{templateID}/tags/count` and `GET /dashboard-api/templates/{templateID}/tags/count` (clients-python-2.63.md 7). */
export const countTagsRoute: ApiRoute = (app, ctx) => {
  // The backend of upstream's dashboard has the same operation.
  for (const route of [operation('countTemplateTags'), operation('countDashboardTags')]) {
    app.route({
      ...route,
      schema: { params: TemplateParams, response: { 200: TemplateTagsCount, ...errors(400, 401, 403, 404, 429, 500) } },
      handler: async ({ principal, params }) => {
        const { db } = ctx.database
        const { templateId } = await getVisibleTemplate(db, getTeam(principal), params.templateID)
        return { total: await countTags(db, templateId) }
      },
    })
  }
}
