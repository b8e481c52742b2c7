import { RESUME_SECONDS, ResumeSandbox } from '@sandyard/api-contract/sandboxes/lifetime'
import { Sandbox } from '@sandyard/api-contract/sandboxes/sandbox'
import { getTeam } from '../../auth/principal.ts'
import { actorOf } from '../../events/actor.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { resumeSandbox } from '../lifecycle/resume-sandbox.ts'
import { toSandbox } from '../read/sandbox-view.ts'
import { SandboxParams } from './sandbox-params.ts'

/** `POST /sandboxes/{sandboxID}/resume` (control-plane.md 6.7). */
export const resumeSandboxRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('resumeSandbox', { isBodyOptional: true }),
    schema: {
      params: SandboxParams,
      body: ResumeSandbox,
      response: { 201: Sandbox, ...errors(400, 401, 403, 404, 409, 429, 500, 503, 504) },
    },
    handler: async ({ principal, params, body }, reply) => {
      const answer = await resumeSandbox(ctx.sandboxes, getTeam(principal), {
        givenId: params.sandboxID,
        seconds: body.timeout ?? RESUME_SECONDS,
        keep: body.memory === false ? 'files' : 'memory',
        autoPause: body.autoPause,
        actor: actorOf(principal),
      })
      return reply.code(201).send(toSandbox(answer, ctx.view))
    },
  })
