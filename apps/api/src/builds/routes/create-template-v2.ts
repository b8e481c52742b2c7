import { TemplateBuildRequestV2 } from '@sandyard/api-contract/builds/register-build'
import { TemplateLegacy } from '@sandyard/api-contract/templates/template'
import { getActingTeam } from '../../auth/acting-team.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { idempotentOperation, IdempotencyHeaders } from '../../idempotency/idempotency-header.ts'
import { registerNamedBuild } from '../registration/register-named-build.ts'
import { toTemplateLegacy } from '../registration/registered-template-view.ts'
import { buildPartsOf } from './route-parts.ts'

/** `POST /v2/templates` (control-plane.md 10.3). */
export const createTemplateV2Route: ApiRoute = (app, ctx) => {
  const parts = buildPartsOf(ctx)
  app.route({
    ...operation('createTemplateV2'),
    schema: {
      headers: IdempotencyHeaders,
      body: TemplateBuildRequestV2,
      response: { 202: TemplateLegacy, ...errors(400, 401, 403, 404, 409, 422, 429, 500, 503) },
    },
    handler: async ({ principal, headers, body }, reply) => {
      const { tokenSeed } = ctx.installation
      const registering = idempotentOperation('createTemplateV2', { headers, body }, { tokenSeed, schema: TemplateBuildRequestV2 })
      const team = await getActingTeam(ctx.database.db, principal, { teamId: body.teamID })
      const { registered } = await registerNamedBuild(
        parts,
        { team, userId: principal?.user?.id, scope: principal?.scope, operation: registering },
        { name: body.alias, cpuCount: body.cpuCount, memoryMib: body.memoryMB },
      )
      return reply.code(202).send(toTemplateLegacy(registered))
    },
  })
}
