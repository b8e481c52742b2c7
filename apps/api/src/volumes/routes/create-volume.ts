import { NewVolume, VolumeAndToken } from '@sandyard/api-contract/volumes/volume'
import { getTeam } from '../../auth/principal.ts'
import { actorOf } from '../../events/actor.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { idempotentOperation, IdempotencyHeaders } from '../../idempotency/idempotency-header.ts'
import { createVolume } from '../create-volume.ts'
import { getVolumeStore } from '../volume-errors.ts'
import { toVolumeAndToken } from '../volume-view.ts'

/** `POST /volumes` (control-plane.md 15.2). A repeat with the same idempotency key gets the same volume with a new token. */
export const createVolumeRoute: ApiRoute = (app, ctx) =>
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
      const volume = await createVolume(ctx.database, store, wish)
      return reply.code(201).send(await toVolumeAndToken(ctx, principal, volume))
    },
  })
