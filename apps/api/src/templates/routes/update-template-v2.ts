import { TemplateUpdateRequest, TemplateUpdateResponse } from '@sandyard/api-contract/templates/update-template'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { getOwnTemplate } from '../own-template.ts'
import { updateTemplate } from '../update-template.ts'
import { TemplateParams } from './template-params.ts'

/** `PATCH /v2/templates/{templateID}` (control-plane.md 9.5). */
export const updateTemplateV2Route: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('updateTemplateV2'),
    schema: {
      params: TemplateParams,
      body: TemplateUpdateRequest,
      response: { 200: TemplateUpdateResponse, ...errors(400, 401, 403, 404, 429, 500) },
    },
    handler: async ({ principal, params, body }) => {
      const { team, template } = await getOwnTemplate(ctx.database.db, principal, params.templateID)
      const change = {
        templateId: template.templateId,
        givenId: params.templateID,
        isPublic: body.public,
        promotes: false,
        reserved: new Set<string>(),
      }
      return { names: await updateTemplate(ctx.database, team, change) }
    },
  })
