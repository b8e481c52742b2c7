import type { ApiRoute } from '../../http/api-instance.ts'
import { Accepted } from '../../http/nothing.ts'
import { errors, operation } from '../../http/operation.ts'
import { startLegacyBuild } from '../start/start-legacy-build.ts'
import { BuildParams, buildPartsOf } from './route-parts.ts'

/** `POST /templates/{templateID}/builds/{buildID}` (control-plane.md 10.2). */
export const startBuildRoute: ApiRoute = (app, ctx) => {
  const parts = buildPartsOf(ctx)
  app.route({
    ...operation('startBuild'),
    schema: { params: BuildParams, response: { 202: Accepted, ...errors(400, 401, 403, 404, 429, 500, 501, 503) } },
    handler: async ({ principal, params }, reply) => {
      await startLegacyBuild(parts, principal, { templateId: params.templateID, buildId: params.buildID })
      return reply.code(202).send(undefined)
    },
  })
}
