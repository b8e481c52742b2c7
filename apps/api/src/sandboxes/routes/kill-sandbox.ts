import { getTeam } from '../../auth/principal.ts'
import { actorOf } from '../../events/actor.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { Nothing } from '../../http/nothing.ts'
import { killSandbox } from '../lifecycle/kill-sandbox.ts'
import { SandboxParams } from './sandbox-params.ts'

/** `DELETE /sandboxes/{sandboxID}` (control-plane.md 6.5). */
export const killSandboxRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('killSandbox'),
    schema: { params: SandboxParams, response: { 204: Nothing, ...errors(400, 401, 403, 404, 409, 429, 500) } },
    handler: async ({ principal, params }, reply) => {
      await killSandbox(ctx.sandboxes, getTeam(principal).id, { givenId: params.sandboxID, actor: actorOf(principal) })
      return reply.code(204).send(null)
    },
  })
