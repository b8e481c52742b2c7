import { PauseSandbox } from '@sandyard/api-contract/sandboxes/lifetime'
import { getTeam } from '../../auth/principal.ts'
import { actorOf } from '../../events/actor.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { Nothing } from '../../http/nothing.ts'
import { errors, operation } from '../../http/operation.ts'
import { pauseSandbox } from '../lifecycle/pause-sandbox.ts'
import { SandboxParams } from './sandbox-params.ts'

/** `POST /sandboxes/{sandboxID}/pause` (control-plane.md 6.6; `requireHealthyGuest`: clients-python-2.63.md 6). */
export const pauseSandboxRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('pauseSandbox', { isBodyOptional: true }),
    schema: { params: SandboxParams, body: PauseSandbox, response: { 204: Nothing, ...errors(400, 401, 403, 404, 409, 429, 500, 503) } },
    handler: async ({ principal, params, body }, reply) => {
      await pauseSandbox(ctx.sandboxes, getTeam(principal).id, {
        givenId: params.sandboxID,
        keep: body.memory === false ? 'files' : 'memory',
        isStrict: body.requireHealthyGuest === true,
        actor: actorOf(principal),
      })
      return reply.code(204).send(null)
    },
  })
