import { DASHBOARD_LIMITS } from '@sandyard/api-contract/dashboard-backend/paging'
import { DashboardTemplates, DashboardTemplatesQuery } from '@sandyard/api-contract/dashboard-backend/templates'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { clampLimit } from '../../tags/routes/clamp-limit.ts'
import { readTemplatePage } from '../read-template-page.ts'
import { toDashboardTemplate } from '../template-views.ts'

/** `GET /dashboard-api/templates` (dashboard-and-cli.md 2.1): those of the team, and the default ones that it may use. */
export const listDashboardTemplatesRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listDashboardTemplates'),
    schema: { querystring: DashboardTemplatesQuery, response: { 200: DashboardTemplates, ...errors(400, 401, 403, 429, 500) } },
    handler: async ({ principal, query }) => {
      const { id } = getTeam(principal)
      const limit = clampLimit(query.limit, DASHBOARD_LIMITS)
      const { page, nextCursor } = await readTemplatePage(ctx.database.db, id, { ...query, limit })
      return { data: page.map((row) => toDashboardTemplate(row, id)), nextCursor }
    },
  })
