import { DashboardDefaultTemplates } from '@sandyard/api-contract/dashboard-backend/templates'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { listDefaultTemplates } from '../../templates/list-templates.ts'
import { toDefaultTemplate } from '../template-views.ts'

/** `GET /dashboard-api/templates/defaults` (dashboard-and-cli.md 2.1). */
export const listDashboardDefaultTemplatesRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listDashboardDefaultTemplates'),
    schema: { response: { 200: DashboardDefaultTemplates, ...errors(401, 403, 429, 500) } },
    handler: async ({ principal }) => {
      const { id } = getTeam(principal)
      return { templates: (await listDefaultTemplates(ctx.database.db, id)).map((row) => toDefaultTemplate(row, id)) }
    },
  })
