import { DashboardTemplate } from '@sandyard/api-contract/dashboard-backend/templates'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { getTemplate } from '../../templates/get-template.ts'
import { TemplateParams } from '../../templates/routes/template-params.ts'
import { toDashboardTemplate } from '../template-views.ts'

/** `GET /dashboard-api/templates/{templateID}` (dashboard-and-cli.md 2.1): by its exact id, as in the control plane (control-plane.md 9.4). */
export const getDashboardTemplateRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getDashboardTemplate'),
    schema: { params: TemplateParams, response: { 200: DashboardTemplate, ...errors(401, 403, 404, 429, 500) } },
    handler: async ({ principal, params }) => {
      const { id } = getTeam(principal)
      return toDashboardTemplate(await getTemplate(ctx.database.db, id, params.templateID), id)
    },
  })
