import { ConnectSandbox } from '@sandyard/api-contract/sandboxes/lifetime'
import { Sandbox } from '@sandyard/api-contract/sandboxes/sandbox'
import { getTeam } from '../../auth/principal.ts'
import { actorOf } from '../../events/actor.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { connectSandbox } from '../lifecycle/connect-sandbox.ts'
import { toSandbox } from '../read/sandbox-view.ts'
import { SandboxParams } from './sandbox-params.ts'

/** `POST /sandboxes/{sandboxID}/connect` (control-plane.md 6.8). */
export const connectSandboxRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('connectSandbox'),
    schema: {
      params: SandboxParams,
      body: ConnectSandbox,
      response: { 200: Sandbox, 201: Sandbox, ...errors(400, 401, 403, 404, 409, 429, 500, 501, 503, 504) },
    },
    handler: async ({ principal, params, body }, reply) => {
      const keep = body.memory === false ? 'files' : 'memory'
      const request = { givenId: params.sandboxID, seconds: body.timeout, keep, actor: actorOf(principal) } as const
      const { answer, isResumed } = await connectSandbox(ctx.sandboxes, getTeam(principal), request)
      return reply.code(isResumed ? 201 : 200).send(toSandbox(answer, ctx.view))
    },
  })
