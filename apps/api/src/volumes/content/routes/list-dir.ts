import { Type } from 'typebox'
import { VolumeDirQuery, VolumeEntryStat } from '@sandyard/api-contract/volumes/volume-content'
import { operation } from '../../../http/operation.ts'
import { VolumeParams } from '../../routes/volume-params.ts'
import { contentErrors } from '../content-errors.ts'
import type { ContentRoute } from '../content-route.ts'
import { forward, ORDINARY } from '../forward.ts'

/** `GET /volumecontent/{volumeID}/dir` (control-plane.md 15.4): the entries of a directory, each followed by its own. */
export const listDirRoute: ContentRoute = (scope, services) =>
  scope.route({
    ...operation('listVolumeDir'),
    schema: {
      params: VolumeParams,
      querystring: VolumeDirQuery,
      response: { 200: Type.Array(VolumeEntryStat), ...contentErrors(400, 401, 403, 404, 429, 500, 503, 504) },
    },
    handler: (request, reply) => forward(services, { request, reply }, ORDINARY),
  })
