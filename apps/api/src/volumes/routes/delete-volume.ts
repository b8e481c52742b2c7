import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { Nothing } from '../../http/nothing.ts'
import { errors, operation } from '../../http/operation.ts'
import { deleteVolume } from '../get-volume.ts'
import { getVolumeStore } from '../volume-errors.ts'
import { VolumeParams } from './volume-params.ts'

/** `DELETE /volumes/{volumeID}` (control-plane.md 15.2). Sandboxes that have it mounted keep it until they end. */
export const deleteVolumeRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('deleteVolume'),
    schema: { params: VolumeParams, response: { 204: Nothing, ...errors(400, 401, 403, 404, 429, 500, 503) } },
    handler: async ({ principal, params }, reply) => {
      getVolumeStore(ctx.runtime)
      await deleteVolume(ctx.database.db, getTeam(principal).id, params.volumeID)
      return reply.code(204).send(null)
    },
  })
