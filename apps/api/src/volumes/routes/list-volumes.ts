import { Type } from 'typebox'
import { Volume } from '@sandyard/api-contract/volumes/volume'
import { getTeam } from '../../auth/principal.ts'
import type { ApiRoute } from '../../http/api-instance.ts'
import { errors, operation } from '../../http/operation.ts'
import { sendList } from '../../http/send-list.ts'
import { getVolumeStore } from '../volume-errors.ts'
import { listVolumes } from '../volume-queries.ts'
import { toVolume } from '../volume-view.ts'

/** `GET /volumes` (control-plane.md 15.2). */
export const listVolumesRoute: ApiRoute = (app, ctx) =>
  app.route({
    ...operation('listVolumes'),
    schema: { response: { 200: Type.Array(Volume), ...errors(401, 403, 429, 500, 503) } },
    handler: async ({ principal }, reply) => {
      getVolumeStore(ctx.runtime)
      return sendList(reply, await listVolumes(ctx.database.db, getTeam(principal).id), toVolume)
    },
  })
