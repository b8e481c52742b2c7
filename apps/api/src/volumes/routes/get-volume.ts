import { VolumeAndToken } from '@sandyard/api-contract/volumes/volume'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { getVolume } from '../get-volume.ts'
import { getVolumeStore } from '../volume-errors.ts'
import { toVolumeAndToken } from '../volume-view.ts'
import { VolumeParams } from './volume-params.ts'

/** `GET /volumes/{volumeID}` (control-plane.md 15.2): with a new token each time. */
export const getVolumeRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('getVolume'),
    schema: { params: VolumeParams, response: { 200: VolumeAndToken, ...errors(400, 401, 403, 404, 429, 500, 503) } },
    handler: async ({ principal, params }) => {
      getVolumeStore(ctx.runtime)
      return toVolumeAndToken(ctx, principal, await getVolume(ctx.database.db, getTeam(principal).id, params.volumeID))
    },
  })
