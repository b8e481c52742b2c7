import { TemplateBuildRequestV3 } from '@sandyard/api-contract/builds/register-build'
import { TemplateRequestResponseV3 } from '@sandyard/api-contract/templates/template'
import { getActingTeam } from '../../auth/acting-team.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { idempotentOperation, IdempotencyHeaders } from '../../idempotency/idempotency-header.ts'
import { registerNamedBuild } from '../registration/register-named-build.ts'
import { toTemplateRequestResponse } from '../registration/registered-template-view.ts'
import { buildPartsOf } from './route-parts.ts'

/** `POST /v3/templates` (control-plane.md 10.3). */
export const createTemplateV3Route: ApiRoute = (app, ctx) => {
  const parts = buildPartsOf(ctx)
  app.route({
    ...operation('createTemplateV3'),
    schema: {
      headers: IdempotencyHeaders,
      body: TemplateBuildRequestV3,
      response: { 202: TemplateRequestResponseV3, ...errors(400, 401, 403, 404, 409, 422, 429, 500, 503) },
    },
    handler: async ({ principal, headers, body }, reply) => {
      const { tokenSeed } = ctx.installation
      const registering = idempotentOperation('createTemplateV3', { headers, body }, { tokenSeed, schema: TemplateBuildRequestV3 })
      const team = await getActingTeam(ctx.database.db, principal, { teamId: body.teamID })
      const { registered, tags } = await registerNamedBuild(
        parts,
        { team, userId: principal?.user?.id, scope: principal?.scope, operation: registering },
        { name: body.name ?? body.alias, tags: body.tags, cpuCount: body.cpuCount, memoryMib: body.memoryMB, diskMib: body.minFreeDiskMb },
      )
      return reply.code(202).send(toTemplateRequestResponse(registered, tags))
    },
  })
}
