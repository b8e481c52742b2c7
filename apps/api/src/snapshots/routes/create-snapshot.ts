import { NewSnapshot, SnapshotInfo } from '@sandyard/api-contract/sandboxes/snapshot'
import { getTeam } from '../../auth/principal.ts'
import { actorOf } from '../../events/actor.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { idempotentOperation, IdempotencyHeaders } from '../../idempotency/idempotency-header.ts'
import { UnservedFieldError } from '../../metrics/unserved-field.ts'
import { SandboxParams } from '../../sandboxes/routes/sandbox-params.ts'
import { createSnapshot } from '../create-snapshot.ts'

/** `POST /sandboxes/{sandboxID}/snapshots` (control-plane.md 7.1). Memory cannot be kept here, so asking for it is a 501 (design.md 3a). */
export const createSnapshotRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('createSnapshot', { isBodyOptional: true }),
    schema: {
      params: SandboxParams,
      headers: IdempotencyHeaders,
      body: NewSnapshot,
      response: { 201: SnapshotInfo, ...errors(400, 401, 403, 404, 409, 422, 429, 500, 501, 503, 504) },
    },
    handler: async ({ principal, params, headers, body }, reply) => {
      if (body.memory === true && ctx.runtime.capabilities().snapshot !== 'memory') throw new UnservedFieldError('memory')
      const { tokenSeed } = ctx.installation
      const taking = idempotentOperation('createSnapshot', { headers, body }, { tokenSeed, schema: NewSnapshot, target: params.sandboxID })
      const wish = { operation: taking, givenId: params.sandboxID, name: body.name, actor: actorOf(principal), userId: principal?.user?.id }
      return reply.code(201).send(await createSnapshot(ctx.sandboxes, getTeam(principal), wish))
    },
  })
