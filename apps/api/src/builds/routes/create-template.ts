import { TemplateBuildRequest } from '@sandyard/api-contract/builds/register-build'
import { TemplateLegacy } from '@sandyard/api-contract/templates/template'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { idempotentOperation, IdempotencyHeaders } from '../../idempotency/idempotency-header.ts'
import { createLegacyTemplate } from '../registration/register-legacy-build.ts'
import { toTemplateLegacy } from '../registration/registered-template-view.ts'
import { buildPartsOf } from './route-parts.ts'

/** `POST /templates` (control-plane.md 10.2). */
export const createTemplateRoute: ApiRoute = (app, ctx) => {
  const parts = buildPartsOf(ctx)
  app.route({
    ...operation('createTemplate'),
    schema: {
      headers: IdempotencyHeaders,
      body: TemplateBuildRequest,
      response: { 202: TemplateLegacy, ...errors(400, 401, 403, 409, 422, 429, 500, 503) },
    },
    handler: async ({ principal, headers, body }, reply) => {
      const { tokenSeed } = ctx.installation
      const registering = idempotentOperation('createTemplate', { headers, body }, { tokenSeed, schema: TemplateBuildRequest })
      const registered = await createLegacyTemplate(parts, principal, { body, operation: registering })
      return reply.code(202).send(toTemplateLegacy(registered))
    },
  })
}
