import { NEW_SANDBOX_SECONDS, NewSandbox } from '@sandyard/api-contract/sandboxes/new-sandbox'
import { Sandbox } from '@sandyard/api-contract/sandboxes/sandbox'
import { getTeam } from '../../auth/principal.ts'
import { actorOf } from '../../events/actor.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { changeAudit } from '../../http/change-audit.ts'
import { errors, operation } from '../../http/operation.ts'
import { createSandbox } from '../create/create-sandbox.ts'
import { toSandbox, type SandboxAnswer } from '../read/sandbox-view.ts'
import { IdempotencyHeaders, readIdempotency } from '../../idempotency/idempotency-header.ts'

const DEFAULTS = { timeout: NEW_SANDBOX_SECONDS.v1, secure: false }

/** `POST /sandboxes` (control-plane.md 6.2), used by older clients: open and short-lived by default. */
export const createSandboxRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('createSandbox'),
    schema: {
      headers: IdempotencyHeaders,
      body: NewSandbox,
      response: { 201: Sandbox, ...errors(400, 401, 403, 404, 409, 422, 429, 500, 501, 503, 504) },
    },
    handler: async (request, reply) => {
      const { principal, headers, body } = request
      const { tokenSeed } = ctx.installation
      const toBody = (answer: SandboxAnswer): Sandbox => toSandbox(answer, ctx.view)
      const answer = await createSandbox(ctx.sandboxes, getTeam(principal), {
        body,
        actor: actorOf(principal),
        audit: changeAudit(request, { status: 201, toBody }),
        onRate: (rate) => void reply.headers(rate),
        defaults: DEFAULTS,
        idempotent: readIdempotency(headers['idempotency-key'], { tokenSeed, operationId: 'createSandbox', schema: NewSandbox, body }),
      })
      return reply.code(201).send(toBody(answer))
    },
  })
