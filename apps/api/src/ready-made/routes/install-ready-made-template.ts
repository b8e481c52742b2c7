import { Type } from 'typebox'
import { ReadyMadeTemplate } from '@sandyard/api-contract/templates/ready-made'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { toReadyMadeTemplate } from '../ready-made-view.ts'

const Params = Type.Object({ name: Type.String({ maxLength: 200, description: 'Name of a ready-made template' }) })

/** `POST /ready-made-templates/{name}` (ours, docs/templates.md): the answer tells what is under way. */
export const installReadyMadeTemplateRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('installReadyMadeTemplate', { isBodyOptional: true }),
    schema: { params: Params, response: { 202: ReadyMadeTemplate, ...errors(400, 401, 403, 404, 429, 500, 503) } },
    handler: async ({ params }, reply) => {
      ctx.placement.assertAccepts()
      return reply.code(202).send(await toReadyMadeTemplate(ctx.database.db, await ctx.readyMade.install(params.name)))
    },
  })
