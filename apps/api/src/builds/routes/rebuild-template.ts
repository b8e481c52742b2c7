import { Type } from 'typebox'
import { TemplateBuildRequest } from '@sandyard/api-contract/builds/register-build'
import { TemplateLegacy } from '@sandyard/api-contract/templates/template'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { idempotentOperation, IdempotencyHeaders } from '../../idempotency/idempotency-header.ts'
import { rebuildTemplate } from '../registration/register-legacy-build.ts'
import { toTemplateLegacy } from '../registration/registered-template-view.ts'
import { buildPartsOf } from './route-parts.ts'

/** `POST /templates/{templateID}` (control-plane.md 10.2; design.md 3a). */
export const rebuildTemplateRoute: ApiRoute = (app, ctx) => {
  const parts = buildPartsOf(ctx)
  app.route({
    ...operation('rebuildTemplate'),
    schema: {
      params: Type.Object({ templateID: Type.String() }),
      headers: IdempotencyHeaders,
      body: TemplateBuildRequest,
      response: { 202: TemplateLegacy, ...errors(400, 401, 403, 404, 409, 422, 429, 500, 503) },
    },
    handler: async ({ principal, params, headers, body }, reply) => {
      const { tokenSeed } = ctx.installation
      const registering = idempotentOperation(
        'rebuildTemplate',
        { headers, body },
        { tokenSeed, schema: TemplateBuildRequest, target: params.templateID },
      )
      const registered = await rebuildTemplate(parts, principal, { templateId: params.templateID, body, operation: registering })
      return reply.code(202).send(toTemplateLegacy(registered))
    },
  })
}
