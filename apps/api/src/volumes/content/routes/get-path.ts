import { VolumeEntryStat, VolumePathQuery } from '@sandyard/api-contract/volumes/volume-content'
import { operation } from '../../../http/operation.ts'
import { VolumeParams } from '../../routes/volume-params.ts'
import { contentErrors } from '../content-errors.ts'
import type { ContentRoute } from '../content-route.ts'
import { forward, ORDINARY } from '../forward.ts'

/** `GET /volumecontent/{volumeID}/path` (control-plane.md 15.4): an entry, without following a link at its end. */
export const getPathRoute: ContentRoute = (scope, services) =>
  scope.route({
    ...operation('getVolumePath'),
    schema: {
      params: VolumeParams,
      querystring: VolumePathQuery,
      response: { 200: VolumeEntryStat, ...contentErrors(400, 401, 403, 404, 429, 500, 503, 504) },
    },
    handler: (request, reply) => forward(services, { request, reply }, ORDINARY),
  })
