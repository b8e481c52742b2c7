import { SandboxTimeout } from '@sandyard/api-contract/sandboxes/lifetime'
import { getTeam } from '../../auth/principal.ts'
import { actorOf } from '../../events/actor.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { Nothing } from '../../http/nothing.ts'
import { setEndTime } from '../set-end-time.ts'
import { SandboxParams } from './sandbox-params.ts'

/** `POST /sandboxes/{sandboxID}/timeout` (control-plane.md 6.9). */
export const setSandboxTimeoutRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('setSandboxTimeout'),
    schema: { params: SandboxParams, body: SandboxTimeout, response: { 204: Nothing, ...errors(400, 401, 403, 404, 409, 429, 500) } },
    handler: async ({ principal, params, body }, reply) => {
      const request = { givenId: params.sandboxID, seconds: body.timeout, rule: 'set', actor: actorOf(principal) } as const
      await setEndTime(ctx.sandboxes, getTeam(principal), request)
      return reply.code(204).send(null)
    },
  })
