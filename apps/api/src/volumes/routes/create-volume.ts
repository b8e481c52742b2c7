import { NewVolume, VolumeAndToken } from '@sandyard/api-contract/volumes/volume'
import { AppError } from '@sandyard/kit/errors/app-error'
import { getTeam } from '../../auth/principal.ts'
import { actorOf } from '../../events/actor.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { idempotentOperation, IdempotencyHeaders } from '../../idempotency/idempotency-header.ts'
import { FairQueue } from '@sandyard/kit/async/fair-queue'
import { createVolume } from '../create-volume.ts'
import { getVolumeStore } from '../volume-errors.ts'
import { toVolumeAndToken } from '../volume-view.ts'

/** The engine makes a container for each: a team must not take its time from the sandboxes of others. Each server counts for itself. */
const AT_ONCE = { perOwner: 2, inAll: 8, waitingPerOwner: 16 } as const

/** `POST /volumes` (control-plane.md 15.2). A repeat with the same idempotency key gets the same volume with a new token. */
export const createVolumeRoute: ApiRoute = (app, ctx) => {
  const creates = new FairQueue({ ...AT_ONCE, onFull: tooManyCreates })
  app.route({
    ...operation('createVolume'),
    schema: {
      headers: IdempotencyHeaders,
      body: NewVolume,
      response: { 201: VolumeAndToken, ...errors(400, 401, 403, 404, 422, 429, 500, 503, 504, 507) },
    },
    handler: async ({ principal, headers, body }, reply) => {
      const store = getVolumeStore(ctx.runtime)
      const { tokenSeed } = ctx.installation
      const once = { ...idempotentOperation('createVolume', { headers, body }, { tokenSeed, schema: NewVolume }), tokenSeed }
      const wish = { ...once, ownerId: getTeam(principal).id, name: body.name, actor: actorOf(principal), storage: ctx.config.storage }
      const volume = await creates.run(wish.ownerId, () => createVolume(ctx.database, store, wish))
      return reply.code(201).send(await toVolumeAndToken(ctx, principal, volume))
    },
  })
}

function tooManyCreates(_cap: 'owner' | 'all', count: number): AppError {
  return new AppError('resource_exhausted', `The team creates ${count} volumes at once: wait for some of them`, {
    headers: { 'retry-after': '5' },
  })
}
