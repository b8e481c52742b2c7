import { TemplateBuildStartV2 } from '@sandyard/api-contract/builds/start-build'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { Accepted } from '../../http/nothing.ts'
import { errors, operation } from '../../http/operation.ts'
import { startBuild } from '../start/start-build.ts'
import { BuildParams, buildPartsOf } from './route-parts.ts'

/** `POST /v2/templates/{templateID}/builds/{buildID}` (control-plane.md 10.5). */
export const startBuildV2Route: ApiRoute = (app, ctx) => {
  const parts = buildPartsOf(ctx)
  app.route({
    ...operation('startBuildV2'),
    schema: { params: BuildParams, body: TemplateBuildStartV2, response: { 202: Accepted, ...errors(400, 401, 403, 404, 429, 500, 503) } },
    handler: async ({ principal, params, body, headers }, reply) => {
      const { templateID: templateId, buildID: buildId } = params
      await ctx.readyMade.prepare(getTeam(principal), body.fromTemplate)
      await startBuild(parts, getTeam(principal), { templateId, buildId, body, userAgent: headers['user-agent'], scope: principal?.scope })
      return reply.code(202).send(undefined)
    },
  })
}
