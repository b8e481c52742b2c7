import { REFRESH_SECONDS, SandboxRefresh } from '@sandyard/api-contract/sandboxes/lifetime'
import { getTeam } from '../../auth/principal.ts'
import { actorOf } from '../../events/actor.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { Nothing } from '../../http/nothing.ts'
import { setEndTime } from '../set-end-time.ts'
import { SandboxParams } from './sandbox-params.ts'

/** `POST /sandboxes/{sandboxID}/refreshes` (control-plane.md 6.10): never shortens the lifetime. */
export const refreshSandboxRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('refreshSandbox', { isBodyOptional: true }),
    schema: { params: SandboxParams, body: SandboxRefresh, response: { 204: Nothing, ...errors(400, 401, 403, 404, 409, 429, 500) } },
    handler: async ({ principal, params, body }, reply) => {
      const seconds = Math.max(body.duration ?? 0, REFRESH_SECONDS.least)
      await setEndTime(ctx.sandboxes, getTeam(principal), {
        givenId: params.sandboxID,
        seconds,
        rule: 'extend',
        actor: actorOf(principal),
      })
      return reply.code(204).send(null)
    },
  })
