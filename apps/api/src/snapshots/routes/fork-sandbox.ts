import { Type } from 'typebox'
import { FORK_DEFAULTS, ForkSandbox, SandboxForkResult } from '@sandyard/api-contract/sandboxes/fork'
import { getTeam } from '../../auth/principal.ts'
import { actorOf } from '../../events/actor.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { idempotentOperation, IdempotencyHeaders } from '../../idempotency/idempotency-header.ts'
import { SandboxParams } from '../../sandboxes/routes/sandbox-params.ts'
import { toSandbox } from '../../sandboxes/read/sandbox-view.ts'
import { forkSandbox } from '../fork-sandbox.ts'

/** `POST /sandboxes/{sandboxID}/fork` (control-plane.md 7.4). */
export const forkSandboxRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('forkSandbox', { isBodyOptional: true }),
    schema: {
      params: SandboxParams,
      headers: IdempotencyHeaders,
      body: ForkSandbox,
      response: { 201: Type.Array(SandboxForkResult), ...errors(400, 401, 403, 404, 409, 422, 429, 500, 503, 504) },
    },
    handler: async ({ principal, params, headers, body }, reply) => {
      const { tokenSeed } = ctx.installation
      const forks = await forkSandbox(ctx.sandboxes, getTeam(principal), {
        givenId: params.sandboxID,
        operation: idempotentOperation('forkSandbox', { headers, body }, { tokenSeed, schema: ForkSandbox, target: params.sandboxID }),
        count: body.count ?? FORK_DEFAULTS.count,
        lifetimeSeconds: body.timeout ?? FORK_DEFAULTS.timeout,
        actor: actorOf(principal),
        onRate: (rate) => void reply.headers(rate),
      })
      return reply.code(201).send(forks.map((fork) => ('answer' in fork ? { sandbox: toSandbox(fork.answer, ctx.view) } : fork)))
    },
  })
