import { SandboxNetworkUpdate } from '@sandyard/api-contract/sandboxes/network'
import { getTeam } from '../../auth/principal.ts'
import { actorOf } from '../../events/actor.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { Nothing } from '../../http/nothing.ts'
import { updateNetwork } from '../update-network.ts'
import { SandboxParams } from './sandbox-params.ts'

/** `PUT /sandboxes/{sandboxID}/network` (control-plane.md 6.11). */
export const updateSandboxNetworkRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('updateSandboxNetwork'),
    schema: {
      params: SandboxParams,
      body: SandboxNetworkUpdate,
      response: { 204: Nothing, ...errors(400, 401, 403, 404, 409, 429, 500, 501, 504) },
    },
    handler: async ({ principal, params, body }, reply) => {
      const request = { givenId: params.sandboxID, update: body, actor: actorOf(principal) }
      await updateNetwork(ctx.sandboxes, getTeam(principal).id, request)
      return reply.code(204).send(null)
    },
  })
